package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
)

// entry is the value of the counter key: the counter, and the last term, which must be known when its leader key has gone.
type entry struct {
	Version     int                 `json:"version"`
	Counter     int64               `json:"counter"`
	Holder      string              `json:"holder,omitempty"`
	Description backend.Description `json:"description"`
	Token       int64               `json:"token,omitempty"`
	Attempt     string              `json:"attempt,omitempty"`
	TTL         int64               `json:"ttl_seconds,omitempty"`
	Granted     int64               `json:"granted_unix_ms,omitempty"` // by the holder's clock, for display
	Released    bool                `json:"released,omitempty"`
	MovedTo     string              `json:"moved_to,omitempty"`
}

func (e entry) encode() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic("etcd: a record of texts and numbers can't fail to encode: " + err.Error())
	}
	return string(text)
}

// identity is the value that the last term's leader key has or had.
func (e entry) identity() string { return strconv.FormatInt(e.Token, 10) + "." + e.Attempt }

// view is what the keys of an election said at one moment. A mod revision of zero means that the key isn't there.
type view struct {
	election    string
	entry       entry
	counterRev  int64
	leader      string // the value
	leaderRev   int64
	leaderLease clientv3.LeaseID // zero: none, somebody has put the key by hand
	to          string           // of the reservation
	toRev       int64
	toLease     clientv3.LeaseID
	quiet       time.Duration // how much longer a leader key without a lease must be silent until it has ended
	silent      bool          // it has ended
	floor       level         // as it was seen last, before the keys were read
	forget      bool          // what is done on the ground of this view raises the floor
}

// read returns the present view.
func (s *Store) read(ctx context.Context, election string) (view, error) {
	base := s.names.base(election)
	floor := s.floor.last()
	got, err := hedge(ctx, s, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return s.kv.Get(ctx, base, below(base))
	})
	if err != nil {
		return view{}, err
	}
	s.note(got.Header)
	v, err := s.view(election, got.Kvs)
	v.floor = floor
	return v, err
}

func (s *Store) view(election string, keys []*mvccpb.KeyValue) (view, error) {
	v := view{election: election}
	for _, kv := range keys {
		switch string(kv.Key) {
		case s.names.counter(election):
			v.counterRev = kv.ModRevision
			if err := json.Unmarshal(kv.Value, &v.entry); err != nil {
				return v, fmt.Errorf("%w: the key %s holds something that is not a lease record; choose another prefix", backend.ErrInvalid, kv.Key)
			}
		case s.names.leader(election):
			v.leader, v.leaderRev, v.leaderLease = string(kv.Value), kv.ModRevision, clientv3.LeaseID(kv.Lease)
		case s.names.reserved(election):
			v.to, v.toRev, v.toLease = string(kv.Value), kv.ModRevision, clientv3.LeaseID(kv.Lease)
		}
	}
	if v.leaderRev != 0 && v.leader != v.entry.identity() {
		v.repair()
	}
	return v, nil
}

// stranger stands for the holder where somebody has written the leader key by hand.
const stranger = "(unknown)"

// repair makes the entry agree with a leader key that doesn't belong to it: keys were written or removed by hand.
func (v *view) repair() {
	if v.counterRev == 0 {
		v.entry.Version = backend.Version
	}
	e := &v.entry
	e.Holder, e.Description, e.Token, e.Attempt, e.Granted, e.Released = stranger, backend.Description{}, 0, "", 0, false
	if t, err := fence.Parse(v.leader); err == nil {
		e.Token, e.Attempt, e.Counter = t.Value, t.Attempt.String(), max(e.Counter, t.Value)
	}
}

// held reports whether the leader key is there.
func (v *view) held() bool { return v.leaderRev != 0 }

// is reports whether the present or last term is of this attempt.
func (v *view) is(a backend.Attempt) bool { return v.entry.Attempt == a.String() }

func (v *view) ttl() time.Duration { return time.Duration(v.entry.TTL) * time.Second }

// record is the view without its times.
func (v *view) record() backend.Record {
	e := v.entry
	r := backend.Record{
		Election: v.election, Token: e.Token, Counter: e.Counter, TTL: v.ttl(), Mode: backend.Native, MovedTo: e.MovedTo, Version: e.Version,
	}
	if a, err := fence.ParseAttempt(e.Attempt); err == nil {
		r.Attempt = a
	}
	if v.held() {
		r.Holder = backend.Candidate{ID: e.Holder, Description: e.Description}
		if e.Granted > 0 {
			r.Age = max(0, time.Since(time.UnixMilli(e.Granted)))
		}
	}
	return r
}

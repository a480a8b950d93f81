package etcd

import (
	"fmt"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// level is the prefix's floor as it was at one moment: no election without a counter was ever granted a token above it, so that the first new one must be. A mod revision of zero means that
// no election was forgotten yet.
type level struct {
	token int64
	rev   int64
}

// floor is the level that was seen last. Each transaction that makes a counter compares it, and reads the present one when it has changed: where nothing is forgotten it takes no request.
type floor struct {
	mu   sync.Mutex
	seen level
}

func (f *floor) last() level {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

func (f *floor) set(l level) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = l
}

// learn takes the level from the answer to a transaction that was refused, if it has asked for it.
func (f *floor) learn(refused *clientv3.TxnResponse) error {
	if len(refused.Responses) == 0 {
		return nil
	}
	var l level
	for _, kv := range refused.Responses[0].GetResponseRange().GetKvs() {
		token, err := strconv.ParseInt(string(kv.Value), 10, 64)
		if err != nil || token < 0 || token > backend.MaxToken {
			return fmt.Errorf("%w: the key %s holds something that is not a token; choose another prefix", backend.ErrInvalid, kv.Key)
		}
		l = level{token, kv.ModRevision}
	}
	f.set(l)
	return nil
}

func (l level) unchanged(n names) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(n.floor()), "=", l.rev)
}

// raise is the change that makes l at least token. It writes in any case: the key's mod revision tells a claim that saw no counter because there was none yet from one that is granted after
// the election was forgotten.
func (l level) raise(n names, token int64) (level, clientv3.Op) {
	l.token = max(l.token, token)
	return l, clientv3.OpPut(n.floor(), strconv.FormatInt(l.token, 10))
}

// ground is the entry that the next one builds on: an election without a counter goes on above the floor.
func (v *view) ground() entry {
	e := v.entry
	if v.counterRev == 0 {
		e.Counter = max(e.Counter, v.floor.token)
	}
	return e
}

package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/record"
)

// row is an election's row as get.sql tells it.
type row struct {
	entry record.Entry
	clock record.Clock
	sign  string // of life
	stale bool   // the row was written under another epoch of the server
	epoch string // the server's, now
}

// rowColumns is the number of columns of get.sql.
const rowColumns = 20

// parseRow reads the reply of get.sql. found is false where the election has no row.
func parseRow(r rows) (_ row, found bool, err error) {
	if len(r) == 0 {
		return row{}, false, nil
	}
	c := r[0]
	if len(c) != rowColumns {
		return row{}, false, fmt.Errorf("the reply has %d columns, want %d", len(c), rowColumns)
	}
	if c[19] == "t" {
		return row{}, false, errReplica // what it shows may be old
	}
	var n [20]int64
	for _, i := range []int{0, 1, 2, 6, 7, 8, 9, 12, 17} {
		if n[i], err = strconv.ParseInt(c[i], 10, 64); err != nil {
			return row{}, false, fmt.Errorf("column %d of the row, %q, is not a number", i+1, c[i])
		}
	}
	attempt := backend.Attempt{}
	if c[3] != "" {
		if attempt, err = fence.ParseAttempt(c[3]); err != nil {
			return row{}, false, err
		}
	}
	e := record.Entry{
		Version: int(n[0]), Counter: n[1], Token: n[2], Attempt: attempt, TTL: span(n[6]), Expires: nanos(n[7]), Granted: nanos(n[8]),
		Renewals: n[9], Released: c[10] == "t", ReservedFor: decode(c[11]), Reserved: nanos(n[12]), MovedTo: c[13], Mode: backend.Mode(c[14]),
	}
	if c[4] != "" {
		e.Holder = backend.Candidate{ID: decode(c[4]), Description: backend.DecodeDescription(c[5])}
	}
	clock := record.Clock{Now: nanos(n[17]), Wall: time.UnixMicro(n[17]), Bound: n[17]}
	return row{entry: e, clock: clock, sign: c[16], stale: c[15] != c[18], epoch: c[18]}, true, nil
}

// Get implements backend.LeaseStore.
func (s *Store) Get(ctx context.Context, election string) (backend.Record, error) {
	record := backend.Record{Election: election}
	err := s.do(ctx, func(ctx context.Context, texts *statements) error {
		reply, err := s.read(ctx, s.get(texts, election))
		if err != nil {
			return err
		}
		r, found, err := parseRow(reply)
		if err != nil || !found {
			return err
		}
		s.observe(election, &r, backend.Claim{})
		record = r.entry.Record(election, r.clock)
		return nil
	})
	if err != nil {
		return backend.Record{}, err
	}
	return record, nil
}

func (s *Store) get(texts *statements, election string) statement {
	return statement{texts.get, s.key(election)}
}

// key is what names an election's row.
func (s *Store) key(election string, more ...string) []string {
	return append([]string{encode(s.options.Prefix), encode(election)}, more...)
}

// micros is a duration as the columns hold it, rounded up.
func micros(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Microsecond-1)/time.Microsecond), 10)
}

// span is what micros was made of.
func span(micros int64) time.Duration { return time.Duration(micros) * time.Microsecond }

func nanos(micros int64) int64 { return micros * int64(time.Microsecond) }

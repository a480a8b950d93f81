package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// BenchmarkBare is what the server and the driver take for the smallest statements, sent in the same way: the yardstick for BenchmarkStore.
func BenchmarkBare(b *testing.B) {
	srv := testenv.Postgres(b)
	c := raw(b, srv.URL())
	exec(b, c, "CREATE TEMP TABLE t (k text PRIMARY KEY, v bigint) WITH (fillfactor = 50)")
	exec(b, c, "INSERT INTO t VALUES ('k', 0)")
	bare := func(sql string) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				batch := &pgconn.Batch{}
				batch.ExecParams(sql, [][]byte{[]byte("k")}, nil, nil, nil)
				if _, err := c.PgConn().ExecBatch(b.Context(), batch).ReadAll(); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("select", bare("SELECT v FROM t WHERE k = $1"))
	b.Run("temporary update", bare("UPDATE t SET v = v + 1 WHERE k = $1"))
	exec(b, c, "DROP TABLE t; CREATE TABLE IF NOT EXISTS bare (k text PRIMARY KEY, v bigint) WITH (fillfactor = 50)")
	exec(b, c, "INSERT INTO bare VALUES ('k', 0) ON CONFLICT DO NOTHING")
	exec(b, c, "SET synchronous_commit = on")
	b.Run("update", bare("UPDATE bare SET v = v + 1 WHERE k = $1"))
}

// BenchmarkStore is a wrapped store, as electors use it.
func BenchmarkStore(b *testing.B) {
	srv := testenv.Postgres(b)
	s := client(b, srv.URL())
	b.Run("get", func(b *testing.B) {
		acquire(b, s, claim("get", "a", time.Minute))
		for b.Loop() {
			get(b, s, "get")
		}
	})
	b.Run("renew", func(b *testing.B) {
		l := acquire(b, s, claim(draw().String(), "a", time.Hour))
		for b.Loop() {
			renew(b, s, l)
		}
	})
	b.Run("refused", func(b *testing.B) {
		held := claim(draw().String(), "a", time.Hour)
		acquire(b, s, held)
		other := claim(held.Election, "b", time.Hour)
		for b.Loop() {
			if _, err := s.Acquire(b.Context(), other); backend.ClassOf(err) != backend.Held {
				b.Fatal(err)
			}
		}
	})
	b.Run("batch of 500", func(b *testing.B) {
		var leases []backend.Lease
		for range batchSize {
			leases = append(leases, acquire(b, s, claim(draw().String(), "a", time.Hour)))
		}
		for b.Loop() {
			for _, r := range backend.RenewAll(b.Context(), s, leases) {
				if r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		}
	})
	b.Run("handover", func(b *testing.B) { // from the release to the next grant, with the wake-up between
		follower := client(b, srv.URL())
		election := draw().String()
		wake := must[<-chan struct{}](b)(follower.Watch(b.Context(), election))
		var took time.Duration
		for b.Loop() {
			l := acquire(b, s, claim(election, "a", time.Hour))
			<-wake
			began := time.Now()
			release(b, s, l)
			<-wake
			next := acquire(b, follower, claim(election, "b", time.Hour))
			took += time.Since(began)
			<-wake
			release(b, follower, next)
			<-wake
		}
		b.ReportMetric(float64(took)/float64(b.N), "ns/handover")
	})
}

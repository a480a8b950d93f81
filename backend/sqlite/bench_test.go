package sqlite_test

import (
	"database/sql"
	"testing"

	"github.com/tenure-go/tenure/backend"
)

// BenchmarkStore shows each call beside a bare UPDATE of one row with the same durability.
func BenchmarkStore(b *testing.B) {
	s := open(b, newPath(b))
	b.Run("acquire+release", func(b *testing.B) {
		for b.Loop() {
			l := acquire(b, s, claim("pair", "a", long))
			if err := s.Release(b.Context(), l, backend.Handover{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("renew", func(b *testing.B) {
		l := acquire(b, s, claim("renew", "a", long))
		for b.Loop() {
			if _, err := s.Renew(b.Context(), l); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("refused acquire", func(b *testing.B) {
		acquire(b, s, claim("held", "a", long))
		c := claim("held", "b", long)
		for b.Loop() {
			if _, err := s.Acquire(b.Context(), c); backend.ClassOf(err) != backend.Held {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Get(b.Context(), "held"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare update/full", func(b *testing.B) { benchUpdate(b, "full") })
	b.Run("bare update/normal", func(b *testing.B) { benchUpdate(b, "normal") })
}

func benchUpdate(b *testing.B, synchronous string) {
	db, err := sql.Open("sqlite", "file:"+newPath(b)+"?_pragma=journal_mode(wal)&_pragma=synchronous("+synchronous+")")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(b.Context(), "CREATE TABLE t (k TEXT PRIMARY KEY, v INTEGER); INSERT INTO t VALUES ('k', 0)"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := db.ExecContext(b.Context(), "UPDATE t SET v = v + 1 WHERE k = 'k'"); err != nil {
			b.Fatal(err)
		}
	}
}

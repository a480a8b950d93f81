package postgres

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// The first of two hosts is gone without a word, as behind a firewall or with its machine. Calls and watches reach the second one.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	srv := testenv.Postgres(t, testenv.Options{Own: true})
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // the kernel accepts, nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := strings.Replace(srv.URL(), srv.Addr(), silent.Addr().String()+","+srv.Addr(), 1)
	for _, params := range [][]string{{}, {"connect_timeout", "60"}} {
		s := client(t, url, append(params, "target_session_attrs", "read-write", "timeout", "4s", "sslmode", "prefer")...)
		eventually(t, "a watch", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			_, err := s.Watch(ctx, "e")
			return err == nil
		})
		if len(params) > 0 {
			continue // the pool does as it was told
		}
		l := acquire(t, s, claim("e", "a", time.Minute))
		if r := backend.RenewAll(deadline(t, ample), s, []backend.Lease{l}); r[0].Err != nil {
			t.Error(r[0].Err)
		}
	}
}

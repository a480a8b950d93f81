package testenv

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each kind does something n times, and must have counted n.
func TestRequests(t *testing.T) {
	t.Parallel()
	const n = 7
	put := func(ctx context.Context, s *Server) error {
		_, err := s.at.do(ctx, request{method: http.MethodPut, path: "/v1/kv/k", body: "v", header: consulToken()})
		return err
	}
	script := func(ctx context.Context, s *Server) error {
		_, err := s.at.redis(ctx, Password(), "EVAL", "redis.call('SET', KEYS[1], 'v') return redis.call('GET', KEYS[1])", "1", "k")
		return err
	}
	key := map[string]string{"key": base64.StdEncoding.EncodeToString([]byte("k"))}
	for name, test := range map[string]struct {
		open func(testing.TB, ...Options) *Server
		o    Options
		do   func(ctx context.Context, s *Server) error
		each int64
	}{
		"redis":  {Redis, Options{}, script, 1},
		"consul": {Consul, Options{}, put, 1},
		"etcd": {Etcd, Options{}, func(ctx context.Context, s *Server) error {
			_, err := s.at.post(ctx, "/v3/kv/range", key, nil)
			return err
		}, 1},
		"etcd with logins": {Etcd, Options{Auth: true}, func(ctx context.Context, s *Server) error {
			token, err := etcdToken(ctx, s.at, Password())
			if err == nil {
				_, err = s.at.post(ctx, "/v3/kv/range", key, token)
			}
			return err
		}, 1},
		"postgres": {Postgres, Options{Settings: []string{"autovacuum=off"}}, func(ctx context.Context, s *Server) error {
			_, err := psql(ctx, s, s.URL(), "select 1")
			return err
		}, 2}, // with the start of the connection
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.o.Own = true
			s := test.open(t, test.o)
			before := s.Requests(t)
			serves(t, s.kind, s)
			if idle := s.Requests(t); idle != before {
				t.Errorf("a probe and a question count %d", idle-before)
			}
			for range n {
				if err := test.do(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			want := before + n*test.each
			// Servers count at the end of a request or of a connection, which its client may see first.
			eventually(t, "the count", func(context.Context) error {
				if got := s.Requests(t); got != want { //nolint:contextcheck // it is bounded by the test's
					return fmt.Errorf("%d requests, want %d", got-before, want-before)
				}
				return nil
			})
		})
	}
}

// The transactions of a connection that stays open count too, and this one's are added up only because it is waited for.
func TestPostgresCountsWhatAnOpenConnectionDid(t *testing.T) {
	t.Parallel()
	s := Postgres(t, Options{Settings: []string{"autovacuum=off"}})
	before := s.Requests(t)
	host, port, _ := strings.Cut(s.Addr(), ":")
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(s.site.binary), "psql"), "-h", host, "-p", port, "-U", "postgres", "-XAt")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+Password())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	replies := bufio.NewReader(out)
	const n = 7
	for range n {
		fmt.Fprintln(in, "select 'done';")
		if _, err := firstLine(replies, "done"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Requests(t) - before; got != n+1 {
		t.Errorf("%d transactions, want %d and the start of the connection", got, n)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestRequestsNeedsAServerThatCounts(t *testing.T) {
	for _, s := range []*Server{{kind: redisKind}, {kind: kind{name: "pgbouncer"}, site: &site{}}} {
		f := &fake{}
		f.run(func() { s.Requests(f) })
		if f.failed == "" {
			t.Errorf("a %s server without a count gave one", s.kind.name)
		}
	}
}

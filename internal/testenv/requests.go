package testenv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Reporter is the part of testing.TB that Requests needs; a case of the conformance suite has it too.
type Reporter interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Requests is how many requests the server has served, as it counts them itself. Differences of two calls tell what a client
// costs. What tells that a server is ready, logins, and this method's own questions are left out. It is for servers of the
// test's own, and a server that comes back counts from 0 (Postgres goes on, except after a crash).
//
//   - Redis: calls of scripts and functions, and of EXEC and SCRIPT LOAD. Other commands are not counted: the server counts
//     those that a script calls as it does a client's, so that a script would count several times.
//   - etcd: messages of clients, that is unary calls, each creation and end of a watch, each stream that keeps a lease alive.
//   - Postgres: transactions in all databases but template1, committed or rolled back. A connection's start is one as well, and
//     so is the work of autovacuum. The server adds them up when a connection ends or has been idle for 10 s, and this method
//     waits for that; of clients that go on working the last second may be missing.
//   - Consul: HTTP requests of this agent that have been answered; a blocking query counts when it returns.
func (s *Server) Requests(t Reporter) int64 {
	t.Helper()
	if s.site == nil || s.kind.requests == nil {
		t.Fatalf("testenv: Requests: nobody counts the requests of this %s server: ask for Options{Own: true}", s.kind.name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	n, err := s.kind.requests(ctx, s)
	if err != nil {
		t.Fatalf("testenv: Requests: %s: %v", s.kind.name, err)
	}
	return n
}

// redisCounted are the commands that a script can't call. Each stands for a request by itself.
var redisCounted = []string{"eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro", "exec", "script|load"}

func redisRequests(ctx context.Context, s *Server) (int64, error) {
	reply, err := s.at.redis(ctx, Password(), "INFO", "commandstats")
	if err != nil {
		return 0, err
	}
	stats := info(reply)
	var sum int64
	for _, command := range redisCounted {
		rest, found := strings.CutPrefix(stats["cmdstat_"+command], "calls=")
		if !found {
			continue // it was never called
		}
		number, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func etcdRequests(ctx context.Context, s *Server) (int64, error) {
	const messages, calls, keepAlive = "grpc_server_msg_received_total", "grpc_server_started_total", `"LeaseKeepAlive"`
	n, err := metric(ctx, s, request{path: "/metrics"}, messages, "etcdserverpb.Auth", "etcdserverpb.Maintenance", keepAlive)
	if err != nil {
		return 0, err
	}
	// The end of a stream counts as a message too: a client that opens one for each keep-alive would count twice.
	streams, err := metric(ctx, s, request{path: "/metrics"}, calls, "etcdserverpb.Auth", "etcdserverpb.Maintenance", "etcdserverpb.KV", "etcdserverpb.Watch", `"LeaseGrant"`,
		`"LeaseRevoke"`, `"LeaseTimeToLive"`, `"LeaseLeases"`)
	return n + streams, err
}

func consulRequests(ctx context.Context, s *Server) (int64, error) {
	r := request{path: "/v1/agent/metrics?format=prometheus", header: consulToken()}
	return metric(ctx, s, r, "consul_api_http_count", `"v1_agent_metrics"`, `"v1_status_`, `"v1_acl_token_self"`)
}

// metric adds up the values of a metric in Prometheus's text form, without those whose labels contain one of some texts.
func metric(ctx context.Context, s *Server, r request, name string, without ...string) (int64, error) {
	r.method = http.MethodGet
	b, err := s.at.do(ctx, r)
	if err != nil {
		return 0, err
	}
	var sum int64
	lines := bufio.NewScanner(bytes.NewReader(b))
next:
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name+"{")
		if !found {
			continue
		}
		for _, text := range without {
			if strings.Contains(rest, text) {
				continue next
			}
		}
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		sum += int64(n)
	}
	return sum, lines.Err()
}

// postgresBusy counts connections whose transactions may not be added up yet.
const postgresBusy = `select count(*) from pg_stat_activity where backend_type = 'client backend' and datname <> 'template1'
	and state_change > clock_timestamp() - interval '11 s'`

const postgresSum = `select sum(xact_commit + xact_rollback) from pg_stat_database where datname <> 'template1'`

// postgresRequests waits for quiet, but no longer than it takes an idle connection.
func postgresRequests(ctx context.Context, s *Server) (int64, error) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(15 * time.Second); ; <-tick.C {
		busy, err := s.count(ctx, postgresBusy)
		if err != nil {
			return 0, err
		}
		if busy == 0 || time.Now().After(limit) {
			return s.count(ctx, postgresSum)
		}
	}
}

// count asks Postgres for one number, in a database of its own whose transactions aren't counted.
func (s *Server) count(ctx context.Context, query string) (int64, error) {
	host, port, _ := strings.Cut(s.Addr(), ":")
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.site.binary), "psql"), "-h", host, "-p", port, "-U", "postgres", "-XAtc", query, "template1")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+Password())
	if ca := s.site.options.ClientCA; ca != "" {
		dir := filepath.Dir(ca)
		cmd.Env = append(cmd.Env, "PGSSLCERT="+filepath.Join(dir, probeCert), "PGSSLKEY="+filepath.Join(dir, probeKey))
	}
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("psql: %w: %s", err, failed.Stderr)
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

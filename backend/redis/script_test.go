package redis

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// R7, R8: a server that lost its scripts gets them within the same call.
func TestScriptCacheMayBeLostBetweenAnyTwoCalls(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	flush := func() {
		if err := server.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c := claim("flushed", "a")
	flush()
	l := acquire(t, s, c)
	flush()
	renew(t, s, l)
	flush()
	if r := get(t, s, "flushed"); r.Renewals != 1 {
		t.Errorf("renewals = %d, want 1", r.Renewals)
	}
	flush()
	raiser, _ := backend.As[backend.TokenRaiser](s)
	if err := raiser.Raise(ctx, "flushed", l.Token+1); err != nil {
		t.Error(err)
	}
	flush()
	release(t, s, l)
}

// R1, R3, R5: the reply is lost after the script has run. The same call again gives the same answer, at once.
func TestLostReplyCostsNothing(t *testing.T) {
	srv := testenv.Redis(t)
	p, behind := through(t, srv)
	s, direct := client(t, behind, ""), client(t, srv.URL(), "")
	ctx := deadline(t, ample)
	warm(t, s)
	c := claim("lost", "a")

	p.DropReplyTo(c.Attempt.String())
	_, err := s.Acquire(ctx, c)
	class(t, "acquire whose reply is lost", err, backend.Unknown)
	applied := get(t, direct, "lost")
	if applied.Attempt != c.Attempt {
		t.Fatalf("the lost call was not applied: %+v", applied)
	}
	l := acquire(t, s, c)
	if l.Token != applied.Token {
		t.Errorf("token %d, want %d: the repeat made a new term", l.Token, applied.Token)
	}

	p.DropReplyTo(c.Attempt.String())
	_, err = s.Renew(ctx, l)
	class(t, "renew whose reply is lost", err, backend.Unknown)
	renew(t, s, l)

	p.DropReplyTo(c.Attempt.String())
	class(t, "release whose reply is lost", s.Release(ctx, l, backend.Handover{}), backend.Unknown)
	acquire(t, direct, claim("lost", "b")) // free for others without waiting
	class(t, "repeated release after another's grant", s.Release(ctx, l, backend.Handover{}), backend.NotHeld)
}

// recorder notes the scripts that a client sends.
type recorder struct {
	mu    sync.Mutex
	calls [][]any
}

func (r *recorder) last() []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

func (r *recorder) DialHook(next goredis.DialHook) goredis.DialHook { return next }
func (r *recorder) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, cmd goredis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			r.mu.Lock()
			r.calls = append(r.calls, cmd.Args())
			r.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}
func (r *recorder) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return next
}

// S3: a network that delivers the very same acquire once more after the release brings nothing back.
func TestLateCopyOfAcquireGrantsNothing(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	var sent recorder
	server.AddHook(&sent)
	s := must[*Store](t)(New(server, Options{}))
	defer s.Close()
	ctx := deadline(t, ample)

	l := acquire(t, s, claim("late", "a"))
	copied := sent.last()
	release(t, s, l)
	before := get(t, s, "late")
	reply := must[[]string](t)(server.Do(ctx, copied...).StringSlice())
	if reply[2] != "spent" {
		t.Errorf("the late copy was answered %q, want spent", reply[2:])
	}
	if after := get(t, s, "late"); after != before {
		t.Errorf("the late copy changed the record:\n%+v\n%+v", before, after)
	}
	acquire(t, s, claim("late", "b"))
	if reply = must[[]string](t)(server.Do(ctx, copied...).StringSlice()); reply[2] != "held" {
		t.Errorf("the late copy under another's lease was answered %q, want held", reply[2:])
	}
}

// R16: tokens are exact up to the greatest, and then an error.
func TestTokensAreExactNearTheEnd(t *testing.T) {
	srv := testenv.Redis(t)
	s, server := client(t, srv.URL(), ""), raw(t, srv.URL())
	ctx := deadline(t, ample)
	key := inner(t, s).names.key("big")

	acquire(t, s, claim("clock", "a"))
	far := time.Now().Add(240*time.Hour).UnixMicro()/10*10 + 7
	for _, counter := range []int64{far, backend.MaxToken - 1} {
		must[int64](t)(server.HSet(ctx, key, "version", "1", "counter", strconv.FormatInt(counter, 10), "expires", "0").Result())
		l := acquire(t, s, claim("big", "a"))
		if l.Token != counter+1 {
			t.Errorf("token %d after the counter %d", l.Token, counter)
		}
		if r := get(t, s, "big"); r.Token != counter+1 || r.Counter != counter+1 {
			t.Errorf("record holds token %d and counter %d, want %d", r.Token, r.Counter, counter+1)
		}
		if stored := must[string](t)(server.HGet(ctx, key, "token").Result()); stored != strconv.FormatInt(counter+1, 10) {
			t.Errorf("stored token is %q", stored)
		}
		renew(t, s, l)
		release(t, s, l)
	}
	_, err := s.Acquire(ctx, claim("big", "a"))
	class(t, "acquire beyond the greatest token", err, backend.Invalid)
	if r := get(t, s, "big"); r.Counter != backend.MaxToken || r.Held() {
		t.Errorf("the refused claim left %+v", r)
	}
}

// S2: the clock is the lower bound of tokens, and the floor is honoured.
func TestTokenBounds(t *testing.T) {
	srv := testenv.Redis(t)
	s := client(t, srv.URL(), "")
	before := time.Now().Add(-time.Minute).UnixMicro() // same host, same clock
	l := acquire(t, s, claim("bounds", "a"))
	if l.Token < before {
		t.Errorf("token %d is below the clock", l.Token)
	}
	release(t, s, l)
	c := claim("bounds", "a")
	c.Floor = l.Token + 1_000_000_000
	if l = acquire(t, s, c); l.Token != c.Floor+1 {
		t.Errorf("token %d over the floor %d", l.Token, c.Floor)
	}
	release(t, s, l)
	c = claim("bounds", "a")
	c.Floor = l.Token + 2*backend.FloorHeadroom
	_, err := s.Acquire(deadline(t, ample), c)
	class(t, "absurd floor", err, backend.Invalid)
}

// IN53: a connection on which every reply belongs to the call before. No call may take another's reply for its own, and the store finds its way out.
func TestShiftedReplyIsUnknown(t *testing.T) {
	srv := testenv.Redis(t)
	server := raw(t, srv.URL())
	stale := make(chan []byte, 1)
	front := relay(t, srv.Addr(), func(_ int64, reply []byte) []byte {
		select {
		case first := <-stale:
			return append(first, reply...)
		default:
			return reply
		}
	})
	s := client(t, "redis://:"+testenv.Password()+"@"+front+"/0", "pool=1")
	ctx := deadline(t, ample)

	warm(t, s)
	c := claim("shifted", "a")
	l := acquire(t, s, c)
	key := inner(t, s).names.key("shifted")
	granted := resp(key, "some.1", "granted", "a", c.Attempt.String(), strconv.FormatInt(l.Token, 10), "60000000")
	held := resp(key, "some.2", "held", "1", "1", "1", "1", "1", "1", "0", "0", "b", "", c.Attempt.String(), "", "")
	notHeld := resp(key, "some.3", "not held")

	stale <- held
	_, err := s.Acquire(ctx, c)
	class(t, "acquire that got another's held", err, backend.Unknown)
	stale <- notHeld
	_, err = s.Renew(ctx, l)
	class(t, "renew that got another's not held", err, backend.Unknown)
	release(t, s, l)
	server.Del(ctx, key)
	stale <- granted
	if l, err = s.Acquire(ctx, claim("shifted", "a")); backend.ClassOf(err) != backend.Unknown {
		t.Errorf("acquire that got an older grant: %+v, %v", l, err)
	}
	stale <- resp("other", "some.4", "record")
	_, err = s.Get(ctx, "shifted")
	class(t, "get that got another's record", err, backend.Unknown)
	get(t, s, "shifted") // at the next call the connection is a fresh one
}

// IN53: a connection on which every reply belongs to the call before, for good. The store leaves it after the first call.
func TestConnectionOutOfStepIsLeft(t *testing.T) {
	srv := testenv.Redis(t)
	var made, shifted atomic.Int64
	var kept []byte
	front := relay(t, srv.Addr(), func(link int64, reply []byte) []byte {
		made.Store(max(made.Load(), link))
		if link > shifted.Load() {
			return reply
		}
		before := kept
		kept = slices.Clone(reply)
		return before
	})
	s := client(t, "redis://:"+testenv.Password()+"@"+front+"/0", "pool=1")
	warm(t, s)
	l := acquire(t, s, claim("shifted", "a"))
	kept = resp(inner(t, s).names.key("shifted"), "some.1", "not held")
	shifted.Store(made.Load())
	_, err := s.Renew(deadline(t, ample), l)
	class(t, "renew that got another's reply", err, backend.Unknown)
	renew(t, s, l)
}

// resp is an array of bulk strings on the wire.
func resp(parts ...string) []byte {
	b := []byte("*" + strconv.Itoa(len(parts)) + "\r\n")
	for _, p := range parts {
		b = append(b, "$"+strconv.Itoa(len(p))+"\r\n"+p+"\r\n"...)
	}
	return b
}

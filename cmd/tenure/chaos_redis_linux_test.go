package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/internal/testenv"
	"github.com/tenure-go/tenure/internal/testenv/proxy"
)

// chaosRedis is one server that loses no acknowledged write, and a proxy before it for each slot.
type chaosRedis struct {
	*arena
	server *testenv.Server
	admin  *goredis.Client
	ways   [chaosSlots]*proxy.Proxy
	urls   [chaosSlots]string
	busy   atomic.Bool // something is done to the server
}

func faultyRedis(a *arena) faulty {
	r := &chaosRedis{arena: a, server: testenv.Redis(a, testenv.Options{Settings: []string{"appendonly yes", "appendfsync always", "busy-reply-threshold 50"}})}
	r.admin = redisClient(a, r.server.URL())
	for i := range r.ways {
		r.urls[i], r.ways[i] = throughProxy(a, r.server)
	}
	return r
}

func (r *chaosRedis) url(slot int) string { return r.urls[slot] }

func (r *chaosRedis) strike() fault {
	if r.IntN(2) == 0 {
		return r.network()
	}
	if !r.busy.CompareAndSwap(false, true) {
		return fault{}
	}
	f := r.serverFault()
	run := f.run
	return fault{f.name, func() { defer r.busy.Store(false); run() }}
}

// network breaks the way of some slots.
func (r *chaosRedis) network() fault {
	d, lag := r.between(time.Millisecond, chaosMost), r.between(time.Millisecond, chaosMost)
	if r.IntN(2) == 0 {
		d = r.between(time.Millisecond, chaosTTL)
	}
	text := []string{"", "evalsha"}[r.IntN(2)]
	kinds := []struct {
		name string
		away func(*proxy.Proxy)
	}{
		{"cut", (*proxy.Proxy).Cut},
		{"down", (*proxy.Proxy).Down},
		{"requests vanish", func(p *proxy.Proxy) { p.BlackHole(proxy.Requests) }},
		{"replies vanish", func(p *proxy.Proxy) { p.BlackHole(proxy.Replies) }},
		{"all vanishes", func(p *proxy.Proxy) { p.BlackHole(proxy.Both) }},
		{"replies are lost", (*proxy.Proxy).DropReplies},
		{"a reply is lost", func(p *proxy.Proxy) { p.DropReplyTo(text) }},
		{"late", func(p *proxy.Proxy) { p.Delay(lag) }},
		{"a little late", func(p *proxy.Proxy) { p.Delay(lag / 20) }},
	}
	k := kinds[r.IntN(len(kinds))]
	var ways []*proxy.Proxy
	for i := range r.ways {
		if r.IntN(3) == 0 {
			ways = append(ways, r.ways[i])
		}
	}
	if leading := r.leading(); leading != nil && r.IntN(2) == 0 {
		ways = append(ways, r.ways[leading.number])
	}
	if len(ways) == 0 {
		ways = r.ways[:]
	}
	return fault{"network: " + k.name, func() {
		for _, p := range ways {
			k.away(p)
		}
		r.rest(d)
		for _, p := range ways {
			p.Heal()
		}
	}}
}

// serverFault breaks the server.
func (r *chaosRedis) serverFault() fault {
	d := r.between(time.Millisecond, chaosMost)
	if r.IntN(2) == 0 {
		d = r.between(time.Millisecond, chaosTTL)
	}
	during := func(on, off string) func() {
		return func() { r.ask(on); r.rest(d); r.ask(off) }
	}
	once := func(command string) func() { return func() { r.ask(command) } }
	faults := []fault{
		{"server: frozen", func() { r.server.Freeze(); r.rest(d); r.server.Thaw() }},
		{"server: killed", func() { r.server.Kill(); r.rest(d); r.server.Start() }},
		{"server: drops its subscribers", once("CLIENT KILL TYPE pubsub")},
		{"server: drops its clients", once("CLIENT KILL TYPE normal SKIPME yes")},
		{"server: forgets its scripts", once("SCRIPT FLUSH")},
		{"server: pauses", func() { r.ask("CLIENT PAUSE " + millis(d) + " ALL"); r.rest(d) }},
		{"server: pauses writes", func() { r.ask("CLIENT PAUSE " + millis(d) + " WRITE"); r.rest(d) }},
		{"server: out of memory", during("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0")},
		{"server: too few replicas", during("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0")},
		{"server: no rights to keys", during("ACL SETUSER default resetkeys", "ACL SETUSER default allkeys")},
		{"server: no rights to channels", during("ACL SETUSER default resetchannels", "ACL SETUSER default allchannels")},
		{"server: no rights to scripts", during("ACL SETUSER default -evalsha", "ACL SETUSER default +evalsha")},
		{"server: too many clients", func() {
			r.ask("CONFIG SET maxclients 1")
			r.ask("CLIENT KILL TYPE normal SKIPME yes")
			r.rest(d)
			r.ask("CONFIG SET maxclients 1000")
		}},
		{"server: busy", func() { r.occupy(d) }},
	}
	return faults[r.IntN(len(faults))]
}

func millis(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }

// occupy lets a script run on and on.
func (r *chaosRedis) occupy(d time.Duration) {
	ctx, cancel := context.WithTimeout(r.Context(), d+patience)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.admin.Do(ctx, "EVAL", "while true do end", 0).Err() // it is killed
	}()
	r.rest(d)
	for {
		_ = r.admin.Do(ctx, "SCRIPT", "KILL").Err()
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ask has the server do something.
func (r *chaosRedis) ask(line string) {
	var args []any
	for word := range strings.FieldsSeq(line) {
		args = append(args, word)
	}
	deadline := time.Now().Add(patience)
	for {
		err := r.admin.Do(r.Context(), args...).Err()
		if err == nil || errors.Is(err, goredis.Nil) {
			return
		}
		if time.Now().After(deadline) {
			r.Errorf("%s: %v", line, err)
			return
		}
		r.rest(10 * time.Millisecond)
	}
}

func (r *chaosRedis) lose() (fault, bool) {
	losses := []fault{
		{"loss: FLUSHALL", func() { r.ask("FLUSHALL") }},
		{"loss: restarted empty", r.server.Restart},
		{"loss: killed, later started empty", func() { r.server.Kill(); r.rest(chaosTTL / 2); r.server.Restart() }},
	}
	return losses[r.IntN(len(losses))], true
}

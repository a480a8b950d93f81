package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// silence is how long a test listens before it believes that nothing comes.
const silence = 50 * time.Millisecond

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// echo is a server that answers each line with itself and remembers what it was sent.
type echo struct {
	net.Listener
	mu    sync.Mutex
	lines []string
	conns []net.Conn
}

func startEcho(t *testing.T) *echo {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.mu.Lock()
			e.conns = append(e.conns, c)
			e.mu.Unlock()
			running.Go(func() { e.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		e.mu.Lock()
		for _, c := range e.conns {
			c.Close()
		}
		e.mu.Unlock()
		running.Wait()
	})
	return e
}

func (e *echo) serve(c net.Conn) {
	defer c.Close()
	for lines := bufio.NewReader(c); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		e.mu.Lock()
		e.lines = append(e.lines, strings.TrimSpace(line))
		e.mu.Unlock()
		if _, err := io.WriteString(c, line); err != nil {
			return
		}
	}
}

// got waits until the server was sent the line.
func (e *echo) got(t *testing.T, line string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-tick.C {
		if e.has(line) {
			return
		}
	}
	t.Fatalf("the server did not get %q", line)
}

func (e *echo) has(line string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.lines, line)
}

func start(t *testing.T) (*Proxy, *echo) {
	e := startEcho(t)
	p, err := Listen(e.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, e
}

// client is one connection through the proxy.
type client struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func connect(t *testing.T, p *Proxy) *client {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive(want string) {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	if got, err := c.lines.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
		c.t.Fatalf("received %q, %v; want %q", got, err, want)
	}
}

func (c *client) receiveNothing() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(silence))
	if b, err := c.lines.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("received %q, %v; want silence", b, err)
	}
}

func (c *client) receiveEnd() {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	if b, err := c.lines.Peek(1); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("received %q, %v; want the end of the connection", b, err)
	}
}

func (c *client) works(line string) {
	c.t.Helper()
	c.send(line)
	c.receive(line)
}

func TestForwardsBothWays(t *testing.T) {
	p, _ := start(t)
	a, b := connect(t, p), connect(t, p)
	a.works("one")
	b.works("two")
	if n := p.Connections(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestPassesTheEndOfAConnectionOn(t *testing.T) {
	p, _ := start(t)
	c := connect(t, p)
	c.works("one")
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.receiveEnd()
}

func TestCutClosesWhatIsOpenAndAcceptsNew(t *testing.T) {
	p, _ := start(t)
	c := connect(t, p)
	c.works("one")
	p.Cut()
	c.receiveEnd()
	connect(t, p).works("two")
}

func TestDownClosesNewConnectionsUntilHealed(t *testing.T) {
	p, _ := start(t)
	old := connect(t, p)
	old.works("one")
	p.Down()
	old.receiveEnd()
	connect(t, p).receiveEnd()
	p.Heal()
	connect(t, p).works("two")
}

func TestBlackHoleHoldsDataUntilHealed(t *testing.T) {
	for name, test := range map[string]struct {
		direction Direction
		arrives   bool
	}{
		"both ways":     {Both, false},
		"requests only": {Requests, false},
		"replies only":  {Replies, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, e := start(t)
			old := connect(t, p)
			old.works("before")
			p.BlackHole(test.direction)
			fresh := connect(t, p)
			old.send("old")
			fresh.send("fresh")
			if test.arrives {
				e.got(t, "old")
				e.got(t, "fresh")
			}
			old.receiveNothing()
			fresh.receiveNothing()
			if !test.arrives && (e.has("old") || e.has("fresh")) {
				t.Error("a request came through the black hole")
			}
			p.Heal()
			old.receive("old")
			fresh.receive("fresh")
		})
	}
}

func TestDropRepliesLosesThemAndHealEndsTheConnection(t *testing.T) {
	p, e := start(t)
	c := connect(t, p)
	c.works("before")
	p.DropReplies()
	c.send("lost")
	e.got(t, "lost")
	c.receiveNothing()
	p.Heal()
	c.receiveEnd()
	connect(t, p).works("after")
}

func TestHealKeepsConnectionsThatLostNothing(t *testing.T) {
	p, _ := start(t)
	c := connect(t, p)
	c.works("before")
	p.DropReplies()
	p.Heal()
	c.works("after")
}

func TestDropReplyToLosesOneReplyAndItsConnection(t *testing.T) {
	p, e := start(t)
	c, other := connect(t, p), connect(t, p)
	p.DropReplyTo("needle")
	c.works("hay")
	other.works("hay")
	c.send("a needle here")
	e.got(t, "a needle here")
	c.receiveEnd()
	other.works("still here")
	connect(t, p).works("needle")
}

func TestDelayHoldsEachPieceBack(t *testing.T) {
	p, _ := start(t)
	c := connect(t, p)
	c.works("before")
	const delay = 30 * time.Millisecond
	p.Delay(delay)
	begin := time.Now()
	c.works("late")
	if took := time.Since(begin); took < 2*delay {
		t.Errorf("a round trip took %v, want at least %v", took, 2*delay)
	}
	p.Heal()
	c.works("after")
}

func TestCloseEndsConnectionsThatAFaultHolds(t *testing.T) {
	for name, fault := range map[string]func(*Proxy){
		"black hole": func(p *Proxy) { p.BlackHole(Both) },
		"delay":      func(p *Proxy) { p.Delay(time.Hour) },
		"mute":       (*Proxy).DropReplies,
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := start(t)
			c := connect(t, p)
			c.works("before")
			fault(p)
			c.send("held")
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			c.receiveEnd()
			if n := p.Connections(); n != 0 {
				t.Errorf("%d connections left", n)
			}
		})
	}
}

func TestServerAwayClosesTheClient(t *testing.T) {
	e := startEcho(t)
	p, err := Listen(e.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e.Close()
	connect(t, p).receiveEnd()
}

func TestFaultsAreSafeUnderConcurrentUse(t *testing.T) {
	p, _ := start(t)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 20 {
				c, err := net.Dial("tcp", p.Addr())
				if err != nil {
					t.Error(err)
					return
				}
				c.SetDeadline(time.Now().Add(time.Millisecond))
				_, _ = io.WriteString(c, "x\n") // a fault may end the connection at any time
				_, _ = io.ReadFull(c, make([]byte, 2))
				c.Close()
			}
		})
	}
	for range 50 {
		p.BlackHole(Both)
		p.Cut()
		p.DropReplies()
		p.DropReplyTo("")
		p.Delay(time.Millisecond)
		p.Down()
		p.Heal()
	}
	running.Wait()
	connect(t, p).works("after")
}

// Package proxy is a loopback TCP proxy with faults, for tests of what a client does when its network fails.
//
//	p, err := proxy.Listen(server.Addr())
//	defer p.Close()
//	// the client talks to p.Addr()
//	p.BlackHole(proxy.Both) // packets vanish
//	p.Heal()                // and arrive late, as after a partition
//
// Faults hold for present and later connections, add up, and last until Heal. All methods may be called from any goroutine.
package proxy

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"time"
)

// Direction is a way through the proxy.
type Direction int

// The directions: requests run from client to server, replies the other way.
const (
	Requests Direction = 1 << iota
	Replies
	Both = Requests | Replies
)

// Proxy forwards connections to one server.
type Proxy struct {
	upstream string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	links   map[*link]struct{}
	faults  faults
	changed chan struct{} // closed and replaced whenever faults change
}

// faults is what is wrong at the moment.
type faults struct {
	down   bool          // connections are closed as they come
	hold   Direction     // these ways carry nothing
	mute   bool          // replies are thrown away
	delay  time.Duration // each piece of data waits this long
	lose   bool          // the reply to the next request that contains needle is thrown away
	needle []byte
}

// Listen starts a proxy on a free loopback port in front of the server at upstream.
func Listen(upstream string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a loopback listener doesn't wait
	if err != nil {
		return nil, err
	}
	p := &Proxy{upstream: upstream, listener: l, links: map[*link]struct{}{}, changed: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is host and port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections is the number of client connections that are open now.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Cut closes all connections that are open now. Clients may connect again at once.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// Down closes all connections, and each new one as it comes.
func (p *Proxy) Down() {
	p.change(func(f *faults) { f.down = true })
	p.Cut()
}

// BlackHole stops all data in a direction. Connections are accepted and stay open. What was sent meanwhile, the end of a
// connection included, arrives after Heal, as TCP does after a partition.
func (p *Proxy) BlackHole(d Direction) { p.change(func(f *faults) { f.hold |= d }) }

// DropReplies throws all replies away from now on, while requests reach the server. Heal closes the connections that lost
// something, since their later replies would belong to other requests.
func (p *Proxy) DropReplies() { p.change(func(f *faults) { f.mute = true }) }

// DropReplyTo waits for the next request that contains the text (any, where it is empty), forwards it, throws the reply away
// and closes the connection: the server has done the work, the client doesn't know. One such request is waited for at a time.
func (p *Proxy) DropReplyTo(text string) {
	p.change(func(f *faults) { f.lose, f.needle = true, []byte(text) })
}

// Delay makes each piece of data wait, in each direction. It doesn't keep data that follows closely apart: a long stream is
// slowed down.
func (p *Proxy) Delay(d time.Duration) { p.change(func(f *faults) { f.delay = d }) }

// Heal ends all faults.
func (p *Proxy) Heal() {
	p.change(func(f *faults) { *f = faults{} })
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if l.lost {
			l.close()
		}
	}
}

// Close ends the proxy and all its connections. It returns when no goroutine of the proxy is left.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.Cut()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // a second Close
	}
	return err
}

// now is what is wrong at the moment, and a channel that is closed when that changes.
func (p *Proxy) now() (faults, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults, p.changed
}

func (p *Proxy) change(f func(*faults)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.faults)
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(c) })
	}
}

// serve forwards one connection until both of its ends are closed.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.upstream) //nolint:noctx // loopback: it is refused or accepted at once
	if err != nil {
		client.Close()
		return
	}
	l := &link{proxy: p, client: client, server: server, done: make(chan struct{})}
	defer l.close()
	if !p.add(l) {
		return
	}
	defer p.remove(l)
	var pumps sync.WaitGroup
	pumps.Go(func() { l.pump(Requests, server, client) })
	pumps.Go(func() { l.pump(Replies, client, server) })
	pumps.Wait()
}

// add refuses a connection when the proxy is down.
func (p *Proxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.faults.down {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

func (p *Proxy) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// link is one client's connection and its twin to the server.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	done           chan struct{}
	closing        sync.Once

	// Guarded by the proxy's lock.
	doomed bool // the next reply is thrown away, and the connection with it
	lost   bool // a reply was thrown away
}

func (l *link) close() {
	l.closing.Do(func() {
		close(l.done)
		l.client.Close()
		l.server.Close()
	})
}

func (l *link) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// pump copies one direction, through the faults.
func (l *link) pump(d Direction, dst, src net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 && !l.forward(d, dst, buf[:n]) {
			l.close()
			return
		}
		if err != nil {
			l.end(d, dst)
			return
		}
	}
}

// forward passes a piece on, or throws it away. It returns false when the connection must end.
func (l *link) forward(d Direction, dst net.Conn, piece []byte) bool {
	if !l.open(d) || !l.late() || !l.open(d) {
		return false
	}
	switch l.judge(d, piece) {
	case drop:
		return true
	case dropAndClose:
		return false
	default:
		_, err := dst.Write(piece)
		return err == nil
	}
}

// end passes the end of one direction on. The other one stays open, as TCP allows.
func (l *link) end(d Direction, dst net.Conn) {
	tcp, ok := dst.(*net.TCPConn)
	if !ok || !l.open(d) || tcp.CloseWrite() != nil {
		l.close()
	}
}

// open waits until the way is open. It returns false when the connection was closed meanwhile.
func (l *link) open(d Direction) bool {
	for {
		f, changed := l.proxy.now()
		if f.hold&d == 0 {
			return true
		}
		select {
		case <-changed:
		case <-l.done:
			return false
		}
	}
}

// late waits for the delay. It returns false when the connection was closed meanwhile.
func (l *link) late() bool {
	begin := time.Now()
	for {
		f, changed := l.proxy.now()
		rest := f.delay - time.Since(begin)
		if rest <= 0 {
			return true
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-changed:
		case <-l.done:
		}
		timer.Stop()
		if l.ended() {
			return false
		}
	}
}

type verdict int

const (
	pass verdict = iota
	drop
	dropAndClose
)

// judge decides about one piece. A request is marked before it is forwarded, so that its reply can't be missed.
func (l *link) judge(d Direction, piece []byte) verdict {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	f := &l.proxy.faults
	switch {
	case d == Requests:
		if f.lose && bytes.Contains(piece, f.needle) {
			f.lose, l.doomed = false, true
		}
		return pass
	case l.doomed:
		return dropAndClose
	case f.mute:
		l.lost = true
		return drop
	default:
		return pass
	}
}

package etcd

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/internal/testenv"
)

// gate stands before a member for its peers. Members tell their ID with the first request on each connection, so that it can cut off one of them.
type gate struct {
	net.Listener
	to      string // the member's own address for peers
	mu      sync.Mutex
	refused uint64              // the peer that is cut off; zero: none
	open    map[net.Conn]uint64 // by peer, from the time that it is known
	running sync.WaitGroup
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	g := &gate{Listener: must[net.Listener](t)(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")), to: to, open: map[net.Conn]uint64{}}
	g.running.Go(g.serve)
	t.Cleanup(func() {
		_ = g.Close()
		g.shut(func(uint64) bool { return true })
		g.running.Wait()
	})
	return g
}

func (g *gate) serve() {
	for {
		conn, err := g.Accept()
		if err != nil {
			return
		}
		g.keep(conn, 0)
		g.running.Go(func() { g.pass(conn) })
	}
}

func (g *gate) pass(conn net.Conn) {
	defer g.drop(conn)
	var head bytes.Buffer
	request, err := http.ReadRequest(bufio.NewReaderSize(io.TeeReader(conn, &head), 1))
	if err != nil {
		return
	}
	peer, _ := strconv.ParseUint(request.Header.Get("X-Server-From"), 16, 64)
	if peer == 0 {
		peer = nameless
	}
	if !g.keep(conn, peer) {
		return
	}
	up, err := new(net.Dialer).DialContext(request.Context(), "tcp", g.to)
	if err != nil {
		return
	}
	defer g.drop(up)
	g.keep(up, peer)
	g.running.Go(func() { _, _ = io.Copy(conn, up); g.drop(conn) })
	_, _ = io.Copy(up, io.MultiReader(&head, conn))
}

// nameless is a connection that begins with a question about a member's health. Members send messages on it too, later, so that nobody's passes while somebody is cut off.
const nameless = 1

// keep notes whose connection it is, and reports whether it may go on.
func (g *gate) keep(conn net.Conn, peer uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[conn] = peer
	return peer == 0 || g.refused == 0 || peer != g.refused && peer != nameless
}

func (g *gate) drop(conn net.Conn) {
	_ = conn.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, conn)
}

// cut ends what a peer sends, and refuses more until it is cut(0).
func (g *gate) cut(peer uint64) {
	g.mu.Lock()
	g.refused = peer
	g.mu.Unlock()
	g.shut(func(p uint64) bool { return peer != 0 && (p == peer || p == nameless) })
}

func (g *gate) shut(which func(peer uint64) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn, peer := range g.open {
		if which(peer) {
			_ = conn.Close()
		}
	}
}

// gated puts a gate before each member: the members know each other by their gates from then on. It returns the IDs too.
func gated(t *testing.T, members *testenv.Cluster) (gates []*gate, ids []uint64) {
	t.Helper()
	servers := members.Members()
	u := must[*url.URL](t)(url.Parse(members.URL()))
	operator := must[*clientv3.Client](t)(clientv3.New(clientv3.Config{
		Endpoints: []string{servers[0].Addr(), servers[1].Addr(), servers[2].Addr()}, Username: u.User.Username(), Password: testenv.Password(), Logger: zap.NewNop(),
	}))
	defer operator.Close()
	for _, srv := range servers {
		id := must[*clientv3.StatusResponse](t)(operator.Status(deadline(t, ample), srv.Addr())).Header.MemberId
		ids = append(ids, id)
		for _, m := range must[*clientv3.MemberListResponse](t)(operator.MemberList(deadline(t, ample))).Members {
			if m.ID == id {
				gates = append(gates, newGate(t, must[*url.URL](t)(url.Parse(m.PeerURLs[0])).Host))
			}
		}
	}
	for i, g := range gates {
		_ = must[*clientv3.MemberUpdateResponse](t)(operator.MemberUpdate(deadline(t, ample), ids[i], []string{"http://" + g.Addr().String()}))
	}
	for _, srv := range servers { // so that no connection goes past a gate
		srv.Kill()
		srv.Start()
		members.Settle()
	}
	return gates, ids
}

// EC39: one follower and the leader of the cluster don't reach each other, while both reach the third member. Never two lead, somebody leads, calls are answered whichever
// member they come to first, and all is well when the two meet again.
func TestOneLinkBetweenMembersIsCut(t *testing.T) {
	t.Parallel()
	members := testenv.EtcdCluster(t, 3)
	gates, ids := gated(t, members)
	c := compete(t, members.URL(), "link", 3*time.Second, 3)
	c.led(0)
	s := client(t, members.URL(), "ping=300ms&timeout=500ms")
	warm(t, s)
	l := acquire(t, s, claim("other", "a"))
	lead := leading(t, members)
	cut := (lead + 1) % 3
	gates[lead].cut(ids[cut])
	gates[cut].cut(ids[lead])
	eventually(t, "the follower loses the leader, or the cluster elects another", func() bool {
		return members.Leader() != lead || leaderless(t, members.Members()[cut])
	})
	for i := range 12 { // the client goes round
		if _, err := s.Renew(deadline(t, 5*time.Second), l); err != nil {
			t.Errorf("renewal %d while a member is cut off: %v", i, err)
		}
	}
	until(t, 6*time.Second)
	c.led(0)
	gates[lead].cut(0)
	gates[cut].cut(0)
	members.Settle()
	c.led(0)
	t.Logf("%d terms", c.terms.Load())
}

// leaderless asks a member whether it sees no leader of the cluster.
func leaderless(t *testing.T, member *testenv.Server) bool {
	t.Helper()
	request := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+member.Addr()+"/metrics", nil))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(request)
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return err == nil && strings.Contains(string(text), "\netcd_server_has_leader 0\n")
}

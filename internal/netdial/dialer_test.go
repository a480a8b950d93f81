package netdial

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet is a server that accepts and says nothing.
func quiet(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestCloseEndsConnectionsAndLaterDials(t *testing.T) {
	d := New(time.Minute)
	addr := quiet(t)
	var conns []net.Conn
	for range 3 {
		c, err := d.Dial(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if err := conns[0].Close(); err != nil || d.Open() != 2 {
		t.Errorf("after one of three was closed (%v) %d are open", err, d.Open())
	}
	d.Drop()
	if _, err := conns[1].Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) || d.Open() != 0 {
		t.Errorf("after Drop a read gives %v, and %d connections are open", err, d.Open())
	}
	last, err := d.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatalf("after Drop: %v", err)
	}
	d.Close()
	if _, err := last.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close a read gives %v", err)
	}
	if _, err := d.Dial(t.Context(), "tcp", addr); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close a dial gives %v", err)
	}
}

// A dial that is under way ends with the dialer, long before its own time.
func TestCloseEndsDialsUnderWay(t *testing.T) {
	d, addr := New(0), quiet(t)
	dialing, done := make(chan struct{}), make(chan error, 1)
	d.plain.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		close(dialing)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	go func() {
		_, err := d.Dial(t.Context(), "tcp", addr)
		done <- err
	}()
	<-dialing
	d.Close()
	if err := <-done; err == nil {
		t.Error("the dial has succeeded")
	}
}

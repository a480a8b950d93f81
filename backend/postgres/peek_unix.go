//go:build unix

package postgres

import (
	"crypto/tls"
	"net"
	"syscall"
)

// spoken reports whether the server has said something, or hung up, on a connection that was idle: it looks at what has arrived, without a round trip. A server that shuts down
// says so on each connection; a call that was sent there would have an unknown outcome.
func spoken(c net.Conn) bool {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	raw, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return true
	}
	spoke := true
	// Control, since Read would wait for the driver's own read, which may be under way.
	err = rc.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		spoke = err != syscall.EAGAIN && err != syscall.EWOULDBLOCK
	})
	return err != nil || spoke
}

package redis

import (
	"net"
	"sync"
	"testing"
)

// relay is a proxy that changes replies: mangle gets the number of the connection, from 1, and returns what the client is to read.
func relay(t *testing.T, upstream string, mangle func(link int64, reply []byte) []byte) (addr string) {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() { l.Close() })
	running.Go(func() {
		for link := int64(1); ; link++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", upstream)
			if err != nil {
				c.Close()
				continue
			}
			running.Go(func() { pump(up, c, func(request []byte) []byte { return request }) })
			running.Go(func() { pump(c, up, func(reply []byte) []byte { return mangle(link, reply) }) })
		}
	})
	return l.Addr().String()
}

// pump copies one direction until either end is closed.
func pump(dst, src net.Conn, mangle func([]byte) []byte) {
	defer dst.Close()
	defer src.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if err != nil {
			return
		}
		if _, err := dst.Write(mangle(buf[:n])); err != nil {
			return
		}
	}
}

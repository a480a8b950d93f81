package testenv

import (
	"errors"
	"math/rand/v2"
	"net"
)

// Servers get ports below those that systems hand out to clients. Else a client that tries again and again while its server
// is down may be given the server's port for its own end, connect to itself, and keep the server from coming back.
const (
	lowestPort  = 10240
	highestPort = 32767
	portTries   = 1000
)

// reservePorts finds n loopback ports that are free. The first is reserved until release is called: no other test process
// that asks in this way gets it, so that a server's answer is never taken for that of another.
func reservePorts(n int) (ports []int, release func(), err error) {
	for range portTries {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if !free(port) {
			continue
		}
		if len(ports) == 0 {
			held, err := net.ListenPacket("udp", loopback(port)) //nolint:noctx // a loopback socket doesn't wait
			if err != nil {
				continue
			}
			release = func() { held.Close() } // the servers speak TCP on this port
		}
		if ports = append(ports, port); len(ports) == n {
			return ports, release, nil
		}
	}
	if release != nil {
		release()
	}
	return nil, nil, errors.New("no free loopback port")
}

// free reports whether nobody listens on a port.
func free(port int) bool {
	l, err := net.Listen("tcp", loopback(port)) //nolint:noctx // a loopback listener doesn't wait
	if err != nil {
		return false
	}
	return l.Close() == nil
}

package postgres

import (
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// perHost is each host's part of the time for connecting, so that one which doesn't answer leaves time for the next.
func perHost(c *pgconn.Config, timeout time.Duration) time.Duration {
	hosts := 1
	last := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	for _, f := range c.Fallbacks { // one with TLS and one without follow each other, and share a host's time
		if next := net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))); next != last {
			last = next
			hosts++
		}
	}
	return timeout / time.Duration(hosts)
}

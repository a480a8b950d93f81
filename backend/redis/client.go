package redis

import (
	"crypto/tls"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// settings is what a URL says about the servers.
type settings struct {
	hosts          []string
	user, password string
	sentinelAuth   bool
	db             int
	master         string // of a Sentinel set-up
	cluster        bool
	tls            *tls.Config // nil: plain
	timeout        time.Duration
	pool           int
}

// client makes a small client for lease traffic only, so that a heartbeat never waits behind other work.
func (c *settings) client() (goredis.UniversalClient, *dialer) {
	d := newDialer(c.timeout, c.tls)
	o := &goredis.UniversalOptions{
		Addrs: c.hosts, MasterName: c.master, IsClusterMode: c.cluster, DB: c.db,
		Username: c.user, Password: c.password,
		Dialer: d.dial, DialTimeout: c.timeout, ReadTimeout: c.timeout, WriteTimeout: c.timeout, PoolTimeout: c.timeout,
		// A call is one attempt under one deadline: repeats are the elector's, which knows the time that is left.
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		// A spare connection stays ready, and none ends because of its age: a renewal must not need a new one.
		PoolSize: c.pool, MinIdleConns: 1, ConnMaxIdleTime: -1, PipelinePoolSize: -1,
		ReadBufferSize: bufferSize, WriteBufferSize: bufferSize,
		// RESP2 without greetings: the fewest commands, which every server and proxy knows.
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if c.sentinelAuth {
		o.SentinelUsername, o.SentinelPassword = c.user, c.password
	}
	switch {
	case c.master != "":
		return goredis.NewFailoverClient(o.Failover()), d
	case c.cluster:
		return goredis.NewClusterClient(o.Cluster()), d
	}
	return goredis.NewClient(o.Simple()), d
}

// bufferSize holds any record; the driver's default is 32 KiB, twice per connection.
const bufferSize = 4 << 10

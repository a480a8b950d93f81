package testenv

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

var redisKind = kind{
	name:    "redis",
	binary:  func() (string, error) { return inPath("redis-server") },
	ports:   1,
	command: redisCommand,
	ready:   redisReady,
	url:     func(addr string) *url.URL { return withPassword("redis", "", addr, "/0") },
	container: container{
		port:  "6379/tcp",
		cmd:   []string{"redis-server", containerConfig},
		files: map[string]string{containerConfig: redisConfig("0.0.0.0", 6379)},
		log:   "Ready to accept connections",
	},
}

// redisConfig is a server that keeps nothing on disk.
func redisConfig(host string, port int) string {
	return fmt.Sprintf("bind %s\nport %d\nrequirepass %s\nsave \"\"\nappendonly no\n", host, port, Password())
}

func redisCommand(_ context.Context, s *site) (*command, error) {
	config := redisConfig("127.0.0.1", s.ports[0]) + "dir " + s.dir + "\n" + strings.Join(s.settings, "\n") + "\n"
	file := filepath.Join(s.dir, "redis.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return &command{args: []string{file}, interrupt: syscall.SIGTERM}, nil
}

// redisReady logs in and asks for a PONG.
func redisReady(ctx context.Context, addr string) error {
	c, err := dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "AUTH %s\r\nPING\r\n", Password()); err != nil {
		return err
	}
	replies := bufio.NewReader(c)
	for _, want := range []string{"+OK", "+PONG"} {
		line, err := replies.ReadString('\n')
		if err != nil {
			return err
		}
		if got := strings.TrimSpace(line); got != want {
			return fmt.Errorf("redis answers %q instead of %s", got, want)
		}
	}
	return nil
}

// dial connects to a server. The context's deadline holds for the whole exchange.
func dial(ctx context.Context, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = c.SetDeadline(deadline)
	}
	return c, err
}

package testenv

import (
	"bufio"
	"context"
	"fmt"
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
	url:     func(at target) *url.URL { return withPassword(at.scheme("redis"), "", at.addr, "/0") },
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

// redisTLS switches the plain port off.
func redisTLS(s *site) string {
	o := s.options
	if o.TLS == nil {
		return ""
	}
	config := fmt.Sprintf("port 0\ntls-port %d\ntls-cert-file %s\ntls-key-file %s\n", s.ports[0], o.TLS.Cert, o.TLS.Key)
	if o.ClientCA == "" {
		return config + "tls-auth-clients no\n"
	}
	return config + "tls-auth-clients yes\ntls-ca-cert-file " + o.ClientCA + "\n"
}

func redisCommand(_ context.Context, s *site) (*command, error) {
	config := redisConfig("127.0.0.1", s.ports[0]) + "dir " + s.dir + "\n" + redisTLS(s) + strings.Join(s.options.Settings, "\n") + "\n"
	file := filepath.Join(s.dir, "redis.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	return &command{args: []string{file}, interrupt: syscall.SIGTERM}, nil
}

// redisReady logs in and asks for a PONG.
func redisReady(ctx context.Context, at target) error {
	c, err := at.dial(ctx)
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

package testenv

import (
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

func redisCommand(_ context.Context, s *site) (*command, error) { return redisCommandWith(s, "") }

// redisPeers is for servers that speak TLS with each other, as the named setting says: they verify one another.
func redisPeers(s *site, setting string) string {
	if s.options.TLS == nil {
		return ""
	}
	return setting + " yes\ntls-ca-cert-file " + filepath.Join(filepath.Dir(s.options.TLS.Cert), caFile) + "\n"
}

// redisCommandWith adds lines to the configuration.
func redisCommandWith(s *site, more string) (*command, error) {
	config := redisConfig("127.0.0.1", s.ports[0]) + "dir " + s.dir + "\n" + redisTLS(s) + more + strings.Join(s.options.Settings, "\n") + "\n"
	file := filepath.Join(s.dir, "redis.conf")
	if err := once(file, config); err != nil {
		return nil, err
	}
	return &command{args: []string{file}, interrupt: syscall.SIGTERM}, nil
}

// once writes a configuration unless it is there: it is part of what a server keeps, and some change theirs.
func once(file, text string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// redisReady logs in and asks for a PONG.
func redisReady(ctx context.Context, at target) error {
	reply, err := at.redis(ctx, Password(), "PING")
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("redis answers %q instead of PONG", reply)
	}
	return err
}

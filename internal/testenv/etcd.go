package testenv

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

var etcdKind = kind{
	name:    "etcd",
	binary:  func() (string, error) { return cached("etcd", version("ETCD_VERSION")) },
	ports:   2,
	command: etcdCommand,
	ready:   etcdReady,
	url:     func(addr string) *url.URL { return withPassword("etcd", "root", addr, "") },
	container: container{
		port: "2379/tcp",
		cmd:  []string{"etcd", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://127.0.0.1:2379"},
		http: "/health",
	},
}

// etcdCommand keeps etcd's default timing: the smallest TTL that it grants depends on it.
func etcdCommand(_ context.Context, s *site) (*command, error) {
	client, peer := "http://"+s.addr(), "http://"+loopback(s.ports[1])
	args := []string{
		"--name=n0", "--data-dir=" + s.dir + "/data", "--log-level=warn", "--unsafe-no-fsync",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=n0=" + peer,
	}
	return &command{args: append(args, s.settings...), interrupt: syscall.SIGTERM}, nil
}

func etcdReady(ctx context.Context, addr string) error {
	return answers(ctx, "http://"+addr+"/health", `"health":"true"`)
}

// answers asks a URL and returns nil when the answer is 200 with a body that contains the text.
func answers(ctx context.Context, target, text string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // leaves no goroutine
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), text) {
		return fmt.Errorf("%s: %s: %q, which has no %s", target, resp.Status, body, text)
	}
	return nil
}

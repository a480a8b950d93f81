package testenv

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"syscall"
)

var etcdKind = kind{
	name:    "etcd",
	binary:  func() (string, error) { return cached("etcd", version("ETCD_VERSION")) },
	ports:   2,
	command: etcdCommand,
	ready:   etcdReady,
	prepare: etcdPrepare,
	url:     func(at target) *url.URL { return withPassword(at.scheme("etcd"), "root", at.addr, "") },
	container: container{
		port: "2379/tcp",
		cmd:  []string{"etcd", "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://127.0.0.1:2379"},
		http: "/health",
	},
}

func etcdCommand(_ context.Context, s *site) (*command, error) {
	return etcdMember(s, "n0", "n0="+etcdPeer(s)), nil
}

// etcdMember keeps etcd's default timing: the smallest TTL that it grants depends on it.
func etcdMember(s *site, name, all string) *command {
	args := []string{
		"--name=" + name, "--data-dir=" + s.dir + "/data", "--log-level=warn", "--unsafe-no-fsync",
		"--listen-peer-urls=" + etcdPeer(s), "--initial-advertise-peer-urls=" + etcdPeer(s), "--initial-cluster=" + all,
	}
	args = append(args, etcdClients(s)...)
	return &command{args: append(args, s.options.Settings...), interrupt: syscall.SIGTERM}
}

// etcdPeer is where other members find this one.
func etcdPeer(s *site) string { return "http://" + loopback(s.ports[1]) }

// etcdClients are the flags for the clients' side.
func etcdClients(s *site) []string {
	o, scheme := s.options, "http://"
	var flags []string
	if o.TLS != nil {
		scheme = "https://"
		flags = append(flags, "--cert-file="+o.TLS.Cert, "--key-file="+o.TLS.Key)
	}
	if o.ClientCA != "" {
		flags = append(flags, "--client-cert-auth", "--trusted-ca-file="+o.ClientCA)
	}
	return append(flags, "--listen-client-urls="+scheme+s.addr(), "--advertise-client-urls="+scheme+s.addr())
}

func etcdReady(ctx context.Context, at target) error {
	return at.answers(ctx, "/health", `"health":"true"`)
}

// etcdPrepare switches authentication on: from then on it is part of the data.
func etcdPrepare(ctx context.Context, s *site, at target) error {
	if !s.options.Auth {
		return nil
	}
	for _, step := range []struct {
		path string
		body map[string]string
	}{
		{"/v3/auth/user/add", map[string]string{"name": "root", "password": Password()}},
		{"/v3/auth/role/add", map[string]string{"name": "root"}},
		{"/v3/auth/user/grant", map[string]string{"user": "root", "role": "root"}},
		{"/v3/auth/enable", map[string]string{}},
	} {
		if _, err := at.post(ctx, step.path, step.body, nil); err != nil {
			return err
		}
	}
	return nil
}

// post calls etcd's HTTP gateway.
func (at target) post(ctx context.Context, path string, body any, header http.Header) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return at.do(ctx, request{method: http.MethodPost, path: path, header: header, body: string(b)})
}

// etcdToken logs in as root.
func etcdToken(ctx context.Context, at target, password string) (http.Header, error) {
	b, err := at.post(ctx, "/v3/auth/authenticate", map[string]string{"name": "root", "password": password}, nil)
	if err != nil {
		return nil, err
	}
	var answer struct{ Token string }
	err = json.Unmarshal(b, &answer)
	return http.Header{"Authorization": {answer.Token}}, err
}

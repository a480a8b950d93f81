package testenv

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

var consulKind = kind{
	name:     "consul",
	binary:   func() (string, error) { return cached("consul", version("CONSUL_VERSION")) },
	ports:    4,
	command:  consulCommand,
	ready:    consulReady,
	requests: consulRequests,
	url: func(at target) *url.URL {
		return &url.URL{Scheme: at.scheme("consul"), Host: at.addr, RawQuery: url.Values{"token": {Password()}}.Encode()}
	},
	container: container{
		port:  "8500/tcp",
		cmd:   []string{"agent", "-dev", "-client=0.0.0.0", "-config-file=" + containerConfig + ".hcl"},
		files: map[string]string{containerConfig + ".hcl": consulConfig()},
		http:  "/v1/status/leader",
	},
}

// consulConfig refuses everything to a caller without the token.
func consulConfig() string {
	const config = "acl {\n  enabled = true\n  default_policy = \"deny\"\n  tokens {\n    initial_management = %[1]q\n    agent = %[1]q\n  }\n}\n"
	return fmt.Sprintf(config, Password())
}

func consulCommand(_ context.Context, s *site) (*command, error) {
	file := filepath.Join(s.dir, "consul.hcl")
	if err := os.WriteFile(file, []byte(consulServer(s)), 0o600); err != nil {
		return nil, err
	}
	return &command{args: []string{"agent", "-dev", "-node=n0", "-log-level=warn", "-config-file=" + file}, interrupt: syscall.SIGTERM}, nil
}

// consulServer is what the configuration of every server has. Its ports are for clients, for gossip nearby and far, and for servers.
func consulServer(s *site) string {
	plain, secure := s.ports[0], -1
	if s.options.TLS != nil {
		plain, secure = -1, s.ports[0]
	}
	return consulConfig() + fmt.Sprintf(`
		bind_addr = "127.0.0.1"
		client_addr = "127.0.0.1"
		disable_update_check = true
		connect { enabled = false }
		telemetry {
			prometheus_retention_time = "24h"
			disable_hostname = true
		}
		ports {
			http = %d
			https = %d
			serf_lan = %d
			serf_wan = %d
			server = %d
			grpc = -1
			grpc_tls = -1
			dns = -1
		}
	`, plain, secure, s.ports[1], s.ports[2], s.ports[3]) + consulTLS(s.options) + strings.Join(s.options.Settings, "\n") + "\n"
}

// consulTLS is for clients only: the servers among themselves go without.
func consulTLS(o Options) string {
	if o.TLS == nil {
		return ""
	}
	config := fmt.Sprintf("cert_file = %q\nkey_file = %q\n", o.TLS.Cert, o.TLS.Key)
	if o.ClientCA != "" {
		config += fmt.Sprintf("ca_file = %q\nverify_incoming = true\n", o.ClientCA)
	}
	return "tls { https {\n" + config + "} }\n"
}

// consulReady waits for a leader, before which the answer is an empty string, and until it knows the token, which it learns a moment later. A server with TLS may be a broken one
// on purpose, which isn't sent the token.
func consulReady(ctx context.Context, at target) error {
	if err := at.answers(ctx, "/v1/status/leader", ":"); err != nil || at.tls != nil {
		return err
	}
	return consulKnows(ctx, at)
}

// consulKnows asks for what only the token may see.
func consulKnows(ctx context.Context, at target) error {
	_, err := at.do(ctx, request{method: http.MethodGet, path: "/v1/acl/token/self", header: consulToken()})
	return err
}

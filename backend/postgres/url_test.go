package postgres

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// What libpq understands is handed over as it is, several hosts included; what is ours is read.
func TestURL(t *testing.T) {
	t.Parallel()
	u := must[*backend.URL](t)(backend.ParseURL(`postgresql://us%27er:p%27%5C%20w@h1:5433,h2,[::1]:5434/d%27b?sslmode=disable&target_session_attrs=read-write&connect_timeout=7` +
		`&application_name=billing&prefix=p&schema=s&pool=3&timeout=4s&expiry=observed&clockstep=5ms&listen=0&strict=1`))
	config, o, strict, err := parse(u)
	if err != nil {
		t.Fatal(err)
	}
	c := config.ConnConfig
	if c.User != "us'er" || c.Password != `p'\ w` || c.Database != "d'b" || c.ConnectTimeout != 7*time.Second || c.RuntimeParams["application_name"] != "billing" {
		t.Errorf("the driver's settings are %+v", c)
	}
	hosts := []string{c.Host}
	ports := []uint16{c.Port}
	for _, f := range c.Fallbacks {
		hosts, ports = append(hosts, f.Host), append(ports, f.Port)
	}
	if !slices.Equal(hosts, []string{"h1", "h2", "::1"}) || !slices.Equal(ports, []uint16{5433, 5432, 5434}) || c.ValidateConnect == nil {
		t.Errorf("hosts are %v, ports %v", hosts, ports)
	}
	want := Options{Prefix: "p", Schema: "s", Expiry: backend.Observed, ClockStep: 5 * time.Millisecond, Timeout: 4 * time.Second, NoListen: true}
	if o != want || !strict || config.MaxConns != 3 || config.MinIdleConns != 1 {
		t.Errorf("options are %+v, strict %v, %d connections, want %+v", o, strict, config.MaxConns, want)
	}
	u = must[*backend.URL](t)(backend.ParseURL("postgres:///db?host=/run/postgresql"))
	if config, o, _, err = parse(u); err != nil || config.ConnConfig.Host != "/run/postgresql" || o.NoListen || o.Timeout != defaultTimeout || o.Expiry != backend.Native {
		t.Errorf("got %+v, %+v, %v", config, o, err)
	}
}

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for u, word := range map[string]string{
		"postgres://h/db?expiry=never":                      "never",
		"postgres://h/db?pool=1":                            "pool",
		"postgres://h/db?timeout=1ns":                       "timeout",
		"postgres://h/db?clockstep=x":                       "clockstep",
		"postgres://h/db?listen=maybe":                      "listen",
		"postgres://h/db?nonsense=1":                        "nonsense",
		"postgres://h/db/more":                              "database",
		"postgres://h/db?host=/run":                         "twice",
		"postgres://h/db?schema=" + strings.Repeat("x", 64): "schema",
		"postgres://h/db?connect_timeout=x":                 "connect_timeout",
	} {
		s, err := backend.Open(t.Context(), strings.Replace(u, "//", "//u:secret@", 1))
		if err == nil {
			_ = s.Close()
		}
		class(t, u, err, backend.Invalid)
		if err != nil && (!strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"a", `\`, `\\`, `\0`, "\x00", "\\\x00", "\x00\\", `\\0`, "'; DROP TABLE tenure_lease; --", "0\x000"} {
		text := encode(name)
		if strings.ContainsRune(text, 0) || decode(text) != name {
			t.Errorf("%q becomes %q and then %q", name, text, decode(text))
		}
		if other, taken := seen[text]; taken {
			t.Errorf("%q and %q are both %q", name, other, text)
		}
		seen[text] = name
	}
}

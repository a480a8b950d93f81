package consul

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// policy is the documented one.
func policy(t *testing.T) string {
	t.Helper()
	return string(must[[]byte](t)(os.ReadFile("../../deploy/policies/consul.hcl")))
}

// under makes a token with rules and returns the URL of the server with it.
func under(t *testing.T, srv *testenv.Server, name, rules string) string {
	t.Helper()
	acl := raw(t, srv).ACL()
	p, _, err := acl.PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := acl.TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: p.ID}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return "consul://" + srv.Addr() + "?token=" + token.SecretID
}

// The documented policy is enough for everything.
func TestConformanceUnderThePolicy(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	url := under(t, srv, "candidate", policy(t))
	conformance.Run(t, suite(raw(t, srv), defaultPrefix, func(t conformance.T) (backend.LeaseStore, error) { return backend.Open(t.Context(), url) }))
	if s, err := backend.Open(deadline(t, ample), url+"&strict=1"); err != nil {
		t.Errorf("strict under the documented policy: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Nothing of the documented policy can be left out.
func TestEveryGrantOfThePolicyIsNeeded(t *testing.T) {
	t.Parallel()
	srv := start(t, testenv.Options{Own: true})
	full := policy(t)
	key, session := "key_prefix \"tenure/\" {\n  policy = \"write\"\n}", "session_prefix \"\" {\n  policy = \"write\"\n}"
	operator := client(t, srv.URL(), "")
	release(t, operator, acquire(t, operator, claim("old", "P")))
	old := get(t, operator, "old")
	for name, c := range map[string]struct{ old, new, fails string }{
		"key-read-only":     {key, strings.Replace(key, "write", "read", 1), "acquire"},
		"no-key":            {key, "", "get"},
		"another-prefix":    {"tenure/", "wages/", "get"},
		"no-session":        {session, "", "acquire"},
		"session-read-only": {session, strings.Replace(session, "write", "read", 1), "acquire"},
	} {
		if !strings.Contains(full, c.old) {
			t.Fatalf("the policy has no %q", c.old)
		}
		url := under(t, srv, name, strings.Replace(full, c.old, c.new, 1))
		s := client(t, url, "")
		_, err := s.Get(deadline(t, ample), "e")
		reading := map[bool]backend.Class{true: backend.Denied, false: backend.OK}[c.fails == "get"]
		class(t, name+": get", err, reading)
		_, err = s.Acquire(deadline(t, ample), claim("e", "P"))
		class(t, name+": acquire", err, backend.Denied)
		_, err = backend.Open(deadline(t, ample), url+"&strict=1")
		class(t, name+": strict", err, backend.Denied)
		class(t, name+": enlist", s.(backend.Roster).Enlist(deadline(t, ample), listedAs("e", "a", "", time.Minute)), backend.Denied)
		_, err = s.(backend.Roster).Candidates(deadline(t, ample), "e")
		class(t, name+": candidates", err, reading)
		_, err = s.(backend.Lister).Elections(deadline(t, ample), "", 1)
		class(t, name+": elections", err, reading)
		if c.fails == "get" || strings.HasPrefix(name, "key") {
			class(t, name+": forget", s.(backend.Forgetter).Forget(deadline(t, ample), old), backend.Denied)
		}
	}
}

// Missing and wrong tokens are told apart from a server that is away, and no secret shows. A token that is revoked ends nothing at once: the holder's calls are unknown.
func TestDenied(t *testing.T) {
	srv := start(t, testenv.Options{Own: true})
	const wrong = "b6ed7d32-1111-2222-3333-444455556666"
	t.Setenv("CONSUL_HTTP_TOKEN", testenv.Password()) // a URL says all: without a token it has none
	for what, url := range map[string]string{"no token": "consul://" + srv.Addr(), "a wrong token": "consul://" + srv.Addr() + "?token=" + wrong} {
		s := client(t, url, "")
		_, err := s.Acquire(deadline(t, ample), claim("e", "P"))
		class(t, "acquire with "+what, err, backend.Denied)
		_, err2 := s.Get(deadline(t, ample), "e")
		class(t, "get with "+what, err2, backend.Denied)
		for _, err := range []error{err, err2} {
			if err != nil && (strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), testenv.Password())) {
				t.Errorf("%s: the error shows a token", what)
			}
		}
	}
	url := under(t, srv, "revoked", policy(t))
	s := client(t, url, "")
	l := acquire(t, s, claim("e", "P"))
	acl := raw(t, srv).ACL()
	tokens, _, err := acl.TokenList(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		if len(token.Policies) == 1 && token.Policies[0].Name == "revoked" {
			if _, err := acl.TokenDelete(token.AccessorID, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "the token is revoked", func() bool {
		_, err = s.Renew(deadline(t, ample), l)
		return err != nil
	})
	class(t, "renewal with a revoked token", err, backend.Denied)
}

package etcd

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/conformance"
	"github.com/tenure-go/tenure/internal/testenv"
)

// cheap makes a login cost what other requests do.
const cheap = "--bcrypt-cost=4"

// root is the operator of a server which asks for a password.
func root(t testing.TB, srv *testenv.Server) *clientv3.Client {
	t.Helper()
	c := must[*clientv3.Client](t)(clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + srv.Addr()}, Username: "root", Password: testenv.Password(), Logger: zap.NewNop(), DialTimeout: ample,
	}))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// allowed makes the user whom the policy describes, and returns the URL for a store of that user.
func allowed(t testing.TB, srv *testenv.Server, user string) string {
	t.Helper()
	script := exec.CommandContext(deadline(t, ample), "../../deploy/policies/etcd.sh", user)
	script.Env = append(os.Environ(), "ETCDCTL="+testenv.Etcdctl(t), "ETCDCTL_ENDPOINTS=http://"+srv.Addr(),
		"ETCDCTL_USER=root:"+testenv.Password(), "TENURE_PASSWORD="+testenv.Password())
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	u := must[*url.URL](t)(url.Parse(srv.URL()))
	u.User = url.UserPassword(user, testenv.Password())
	u.RawQuery = "prefix=" + user
	return u.String()
}

// The documented permissions are enough for the whole contract, and for the store's look at its server.
func TestConformanceWithLeastPrivilege(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap}})
	rawURL := allowed(t, srv, "billing")
	s := client(t, rawURL, "")
	warm(t, s)
	if found := inner(t, s).Warnings(); len(found) > 0 {
		t.Errorf("warnings: %q", found)
	}
	strict, err := backend.Open(deadline(t, ample), rawURL+"&strict=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := strict.Close(); err != nil {
		t.Error(err)
	}
	contract := suite(t, rawURL, root(t, srv))
	keys := newNames("billing")
	operator := root(t, srv)
	contract.Plant = func(t conformance.T, election, moved string, version int) {
		if _, err := operator.Put(t.Context(), keys.counter(election), entry{Version: version, MovedTo: moved}.encode()); err != nil {
			t.Fatalf("plant: %v", err)
		}
	}
	contract.Remove = func(t conformance.T, election string) {
		if _, err := operator.Delete(t.Context(), keys.base(election), clientv3.WithPrefix()); err != nil {
			t.Fatalf("remove: %v", err)
		}
	}
	contract.StoreOnly = true
	conformance.Run(t, contract)
}

// Each part of the permission is needed, and where it is missing the error says so.
func TestMissingPermissions(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap}})
	operator := root(t, srv)
	rawURL := allowed(t, srv, "billing")
	s := client(t, rawURL, "")
	release(t, s, acquire(t, s, claim("old", "a")))
	old := get(t, s, "old")
	l := acquire(t, s, claim("e", "a"))
	end := clientv3.GetPrefixRangeEnd("billing/")
	must[*clientv3.AuthRoleRevokePermissionResponse](t)(operator.RoleRevokePermission(deadline(t, ample), "billing", "billing/", end))
	denied := func(what string, err error) {
		t.Helper()
		class(t, what, err, backend.Denied)
	}
	_, err := s.Get(deadline(t, ample), "e")
	denied("get without any permission", err)
	_, err = s.Renew(deadline(t, ample), l)
	denied("renewal without any permission", err)
	_, err = s.Watch(deadline(t, ample), "e")
	denied("watch without any permission", err)
	_, err = s.(backend.Roster).Candidates(deadline(t, ample), "e")
	denied("candidates without any permission", err)
	_, err = s.(backend.Lister).Elections(deadline(t, ample), "", 1)
	denied("elections without any permission", err)
	must[*clientv3.AuthRoleGrantPermissionResponse](t)(operator.RoleGrantPermission(deadline(t, ample), "billing", "billing/", end, clientv3.PermissionType(clientv3.PermRead)))
	get(t, s, "e")
	_, err = s.Renew(deadline(t, ample), l)
	denied("renewal without write", err)
	denied("release without write", s.Release(deadline(t, ample), l, backend.Handover{}))
	_, err = s.Acquire(deadline(t, ample), claim("other", "a"))
	denied("acquire without write", err)
	denied("enlist without write", s.(backend.Roster).Enlist(deadline(t, ample), listedAs("e", "a", "", time.Minute)))
	denied("forget without write", s.(backend.Forgetter).Forget(deadline(t, ample), old))
	if got := listed(t, s, "e"); len(got) != 0 {
		t.Errorf("listed are %v", got)
	}
	report := conformance.Check(deadline(t, ample), suite(t, rawURL, operator))
	red := false
	for _, r := range report.Results {
		red = red || r.Case.Name == "after a release the next acquire succeeds at once" && r.Outcome == conformance.Violated
	}
	if !red {
		t.Error("the contract is kept by a user who may only read")
	}
	must[*clientv3.AuthRoleGrantPermissionResponse](t)(operator.RoleGrantPermission(deadline(t, ample), "billing", "billing/", end, clientv3.PermissionType(clientv3.PermReadWrite)))
	renew(t, s, l)
	other := client(t, strings.Replace(rawURL, "prefix=billing", "prefix=billing2", 1), "")
	_, err = other.Get(deadline(t, ample), "e")
	denied("get below another prefix", err)
}

// Wrong passwords are told as such, quickly, and never shown.
func TestWrongPassword(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap}})
	for _, user := range []*url.Userinfo{url.UserPassword("root", "wrong-"+testenv.Password()), url.UserPassword("nobody", testenv.Password()), nil} {
		u := must[*url.URL](t)(url.Parse(srv.URL()))
		u.User = user
		s := client(t, u.String(), "")
		_, err := s.Acquire(deadline(t, ample), claim("e", "a"))
		class(t, "acquire with wrong credentials", err, backend.Denied)
		if err != nil && strings.Contains(err.Error(), testenv.Password()) {
			t.Error("the error shows the password")
		}
		_, err = s.Watch(deadline(t, ample), "e")
		class(t, "watch with wrong credentials", err, backend.Denied)
		_, err = backend.Open(deadline(t, ample), u.String()+"?strict=1")
		class(t, "strict open with wrong credentials", err, backend.Denied)
	}
}

// EC18, EC19: tokens end while the store is idle, and are forgotten when the member restarts. Nothing is lost.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap, "--auth-token-ttl=1"}})
	s := client(t, srv.URL(), "")
	wake := watching(t, s, "tokens")
	l := acquire(t, s, claim("tokens", "a"))
	woken(t, "a grant", wake)
	until(t, 4*time.Second)
	renew(t, s, l)
	until(t, 4*time.Second)
	acquire(t, s, claim("tokens/2", "a"))
	srv.Kill()
	srv.Start()
	renew(t, s, l)
	acquire(t, s, claim("tokens/3", "a"))
	// Any change of users makes the tokens of all old.
	must[*clientv3.AuthRoleAddResponse](t)(root(t, srv).RoleAdd(deadline(t, ample), "another"))
	renew(t, s, l)
	for len(wake) > 0 {
		<-wake
	}
	eventually(t, "the watch goes on", func() bool {
		select {
		case _, open := <-wake:
			return open
		default:
			release(t, s, l)
			l = acquire(t, s, claim("tokens", "a"))
			return false
		}
	})
}

// A client of the caller's with user and password works too, and is warned about.
func TestUsersClientWithPassword(t *testing.T) {
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap}})
	inside := must[*Store](t)(New(root(t, srv), Options{}))
	s := backend.Wrap(inside)
	l := acquire(t, s, claim("own", "a"))
	renew(t, s, l)
	release(t, s, l)
	if found := strings.Join(inside.Warnings(), " "); !strings.Contains(found, "logs in anew") || !strings.Contains(found, "single endpoint") {
		t.Errorf("the warnings are %q", found)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

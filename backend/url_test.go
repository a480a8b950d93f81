package backend

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseURL(t *testing.T) {
	cases := []struct {
		in   string
		want URL
	}{
		{"redis://h:6379/0?prefix=app", URL{Scheme: "redis", Hosts: []string{"h:6379"}, Path: "/0"}},
		{"REDIS://h", URL{Scheme: "redis", Hosts: []string{"h"}}},
		{"redis://:p%40ss@h", URL{Scheme: "redis", Password: "p@ss", Hosts: []string{"h"}}},
		{"redis://u:p@h:1", URL{Scheme: "redis", User: "u", Password: "p", Hosts: []string{"h:1"}}},
		{"redis://u:a@b@h:1", URL{Scheme: "redis", User: "u", Password: "a@b", Hosts: []string{"h:1"}}},
		{"etcd://a:1,b:2,[::1]:3", URL{Scheme: "etcd", Hosts: []string{"a:1", "b:2", "[::1]:3"}}},
		{"redis+sentinel://a,b/main", URL{Scheme: "redis+sentinel", Hosts: []string{"a", "b"}, Path: "/main"}},
		{"sqlite:///var/lib/x.db", URL{Scheme: "sqlite", Path: "/var/lib/x.db"}},
		{"sqlite:x%20y.db", URL{Scheme: "sqlite", Path: "x y.db"}},
		{"memory:demo", URL{Scheme: "memory", Path: "demo"}},
		{"memory:", URL{Scheme: "memory"}},
	}
	for _, c := range cases {
		got, err := ParseURL(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		got.Params = nil
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.in, *got, c.want)
		}
	}
}

// An unset variable is the most common mistake.
func TestEmptyURL(t *testing.T) {
	if _, err := Open(t.Context(), ""); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("got %v", err)
	}
}

// A password may end up anywhere in a malformed URL, so no error shows any part of it.
func TestMalformedURLsAreRefusedWithoutBeingShown(t *testing.T) {
	const canary = "hunter2canary"
	for _, in := range []string{
		"", canary, "//" + canary, canary + "@host:6379", "redis//:" + canary + "@h", ":" + canary + "@h", "1redis://" + canary,
		"redis://:" + canary + "@", "redis://:" + canary + "/x@h", "redis://:" + canary + "?x@h", "redis://u:1?" + canary + "@h:6379",
		"redis://:" + canary + "%zz@h", "redis://:" + canary + "#@h", "redis://:x@h:" + canary, "redis://:x@h:99999" + canary,
		"redis://h/%zz" + canary, "redis://h?a=%zz" + canary, "redis://a,,b:" + canary, "redis://[::1:" + canary, "redis://h?=" + canary,
		"redis://h;" + canary + ":x",
	} {
		_, err := Open(t.Context(), in)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: got %v", in, err)
			continue
		}
		if strings.Contains(err.Error(), canary) {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestURLForPeopleHidesSecrets(t *testing.T) {
	u, err := ParseURL("redis://me:hunter2@h:1,i:2/0?prefix=a&token=hunter3&password=hunter4")
	if err != nil {
		t.Fatal(err)
	}
	s := u.String()
	if strings.Contains(s, "hunter") || !strings.Contains(s, "me:xxxxx@h:1,i:2/0") || !strings.Contains(s, "prefix=a") {
		t.Errorf("got %s", s)
	}
	if got := u.Secrets(); len(got) != 3 {
		t.Errorf("secrets: %d", len(got))
	}
}

func TestURLParameters(t *testing.T) {
	u, err := ParseURL("x:?d=3s&n=4&b=1&s=text&bad=zz&neg=-1s")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := u.Duration("d", 0); d != 3*time.Second || err != nil {
		t.Error(d, err)
	}
	if d, err := u.Duration("absent", time.Minute); d != time.Minute || err != nil {
		t.Error(d, err)
	}
	if n, err := u.Int("n", 1, 0); n != 4 || err != nil {
		t.Error(n, err)
	}
	if b, err := u.Bool("b"); !b || err != nil {
		t.Error(b, err)
	}
	if u.Text("s", "") != "text" || u.Text("absent", "def") != "def" {
		t.Error(u.Text("s", ""))
	}
	_, e1 := u.Duration("bad", 0)
	_, e2 := u.Duration("neg", 0)
	_, e3 := u.Int("bad", 0, 0)
	_, e4 := u.Int("n", 0, 5)
	_, e5 := u.Bool("bad")
	for i, err := range []error{e1, e2, e3, e4, e5} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	opened := 0
	Register(Driver{Schemes: []string{"fake"}, Params: []string{"prefix", "db"}, Open: func(_ context.Context, u *URL) (LeaseStore, error) {
		opened++
		return nil, errors.New("cannot reach h with hunter2")
	}})
	for in, says := range map[string]string{
		"fakex://h":                    "known are fake",
		"fake://h?prefx=a":             "known are db, prefix",
		"fake://h?prefix=a&prefix=b":   "2 times",
		"fake://:hunter2@h?prefix=app": "cannot reach h with xxxxx",
	} {
		_, err := Open(t.Context(), in)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if opened != 1 {
		t.Errorf("the driver was called %d times", opened)
	}
	defer func() {
		if recover() == nil {
			t.Error("a scheme was registered twice")
		}
	}()
	Register(Driver{Schemes: []string{"fake"}})
}

package etcd

import (
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

func TestTooOld(t *testing.T) {
	for version, want := range map[string][2]bool{
		"3.3.27": {true, true}, "3.4.37": {true, true}, "3.4.38": {false, true}, "3.5.22": {true, true}, "3.5.23": {false, true}, "3.6.4": {true, true},
		"3.6.5": {false, true}, "3.6.11-rc.0": {false, true}, "3.7.0": {false, true}, "4.0.0": {false, true}, "": {false, false}, "main": {false, false}, "3.x.1": {false, false},
	} {
		if old, known := tooOld(version); old != want[0] || known != want[1] {
			t.Errorf("%q: old %v, known %v, want %v", version, old, known, want)
		}
	}
}

func TestJudge(t *testing.T) {
	for what, st := range map[string]*pb.StatusResponse{
		"upgrade to": {Version: "3.5.9"}, "learner": {IsLearner: true}, "alarm NOSPACE": {Errors: []string{"memberID:1 alarm:NOSPACE "}},
		"its quota": {DbSizeQuota: 1000, DbSizeInUse: 950},
	} {
		found := judge((*clientv3.StatusResponse)(st))
		if len(found) != 1 || !strings.Contains(found[0], what) {
			t.Errorf("%s: %q", what, found)
		}
	}
	if found := judge((*clientv3.StatusResponse)(&pb.StatusResponse{Version: "3.7.3", DbSizeQuota: 1000, DbSizeInUse: 100})); len(found) > 0 {
		t.Errorf("a good member: %q", found)
	}
}

// strict refuses a cluster that doesn't ask for the password in the URL, and one with a member that is away.
func TestStrict(t *testing.T) {
	srv := testenv.Etcd(t) // a password in its URL, but none is asked for
	for what, rawURL := range map[string]string{
		"doesn't ask for the password": srv.URL() + "?strict=1",
		"Member 2 doesn't answer":      "etcd://" + srv.Addr() + ",127.0.0.1:1?strict=1&timeout=500ms",
	} {
		s, err := backend.Open(deadline(t, ample), rawURL)
		if err == nil {
			_ = s.Close()
		}
		class(t, what, err, backend.Invalid)
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v doesn't say %q", err, what)
		}
	}
	s := client(t, "etcd://"+srv.Addr(), "strict=1")
	acquire(t, s, claim("strict", "a"))
}

package redis

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// A cluster of one node checks what every cluster checks: that a script's key and the client's routing agree.
func TestClusterOfOneNode(t *testing.T) {
	srv := testenv.Redis(t, testenv.Options{Settings: []string{"cluster-enabled yes"}})
	server := raw(t, srv.URL())
	if err := server.Do(deadline(t, ample), "cluster", "addslotsrange", "0", "16383").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cluster serves", func() bool {
		info, _ := server.ClusterInfo(deadline(t, ample)).Result()
		return strings.Contains(info, "cluster_state:ok")
	})
	s := client(t, "redis+cluster://:"+testenv.Password()+"@"+srv.Addr(), "")
	for _, election := range []string{"a", "{b}", "}{"} { // of different slots
		wake := watching(t, s, election)
		l := acquire(t, s, claim(election, "x"))
		woken(t, "grant", wake)
		renew(t, s, l)
		_, err := s.Acquire(deadline(t, ample), claim(election, "y"))
		class(t, "acquire of a held election", err, backend.Held)
		release(t, s, l)
		woken(t, "release", wake)
	}
}

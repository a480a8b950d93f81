package etcd

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testenv"
)

// trials is how often a trial is played; none by default, since they take minutes.
func trials(t *testing.T) int {
	t.Helper()
	n, _ := strconv.Atoi(os.Getenv("TENURE_TRIALS"))
	if n == 0 {
		testenv.Skip(t, "set TENURE_TRIALS to a number of trials")
	}
	return max(1, n/6) // each takes a minute
}

// Thirty elections with a client each, TTL 5 s; one member is cut off from all of them for 15 s, once a follower of the cluster, once its leader. No leadership is lost.
func TestTrialHungMember(t *testing.T) {
	for range trials(t) {
		for _, leader := range []bool{false, true} {
			trialHungMember(t, leader)
		}
	}
}

func trialHungMember(t *testing.T, leader bool) {
	members := testenv.EtcdCluster(t, 3)
	servers := members.Members()
	i := leading(t, members)
	if !leader {
		i = (i + 1) % 3
	}
	const elections = 30
	contests := make([]*contest, elections)
	for k := range contests {
		contests[k] = compete(t, members.URL(), fmt.Sprintf("trial %v %d", leader, k), 5*time.Second, 1)
	}
	for _, c := range contests {
		c.led(0)
	}
	until(t, 3*time.Second)
	servers[i].Freeze()
	until(t, 15*time.Second)
	servers[i].Thaw()
	lost := 0
	for _, c := range contests {
		c.led(0)
		lost += int(c.terms.Load() - 1)
	}
	t.Logf("the cluster's leader hung: %v; %d of %d leaderships were lost", leader, lost, elections)
	if lost > 0 && !leader {
		t.Errorf("%d leaderships were lost by a follower's outage", lost)
	}
	for _, c := range contests {
		c.stop()
	}
}

// EC5: the leader of the cluster is frozen for longer than a TTL and goes on, again and again. The elections' leaders never notice, and never two lead.
func TestTrialFrozenLeader(t *testing.T) {
	rounds := 10 * trials(t)
	members := testenv.EtcdCluster(t, 3)
	contests := make([]*contest, 8)
	for k := range contests {
		contests[k] = compete(t, members.URL(), fmt.Sprint("frozen ", k), 3*time.Second, 2)
		contests[k].led(0)
	}
	for range rounds {
		i := leading(t, members)
		members.Members()[i].Freeze()
		until(t, 4*time.Second)
		members.Members()[i].Thaw()
		until(t, 500*time.Millisecond)
		members.Settle()
	}
	lost := 0
	for _, c := range contests {
		c.led(0)
		lost += int(c.terms.Load() - 1)
	}
	t.Logf("%d leaderships were lost in %d rounds", lost, rounds)
}

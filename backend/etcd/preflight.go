package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/backend"
)

// preflight looks at the members' state once, behind the first call that succeeds.
type preflight struct {
	begun atomic.Bool // under way or done

	mu     sync.Mutex
	looked bool
	fixed  []string // about the client
	found  []string // about the cluster
}

// contact is called after each request that succeeded.
func (s *Store) contact() {
	p := &s.check
	if p.begun.Load() || !p.begun.CompareAndSwap(false, true) {
		return
	}
	s.behind(func(ctx context.Context) {
		if s.look(ctx) != nil {
			p.begun.Store(false) // the next contact tries again
		}
	})
}

// strict looks now, and makes every warning an error.
func (s *Store) strict(ctx context.Context) error {
	s.check.begun.Store(true)
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.read(ctx, "strict"); err != nil { // user, password and permissions
		return fmt.Errorf("strict=1 asks the cluster before it is used: %w", err)
	}
	if err := s.look(ctx); err != nil {
		return fmt.Errorf("strict=1 asks the cluster before it is used: %w", err)
	}
	if found := s.Warnings(); len(found) > 0 {
		return fmt.Errorf("%w: strict=1 turns these warnings into errors: %s", backend.ErrInvalid, strings.Join(found, " "))
	}
	return nil
}

// look asks each member that the client knows, and keeps what it finds. A member that doesn't answer is a finding unless none does.
func (s *Store) look(ctx context.Context) error {
	endpoints := s.client.Endpoints()
	findings, errs := make([][]string, len(endpoints)), make([]error, len(endpoints))
	var all sync.WaitGroup
	for i, endpoint := range endpoints {
		all.Go(func() {
			got, err := s.client.Status(ctx, endpoint)
			if errs[i] = err; err == nil {
				findings[i] = judge(got)
			}
		})
	}
	all.Wait()
	var found []string
	answered := false
	for i := range endpoints {
		answered = answered || errs[i] == nil
		for _, text := range findings[i] {
			found = append(found, fmt.Sprintf("Member %d: %s", i+1, text))
		}
		if errs[i] != nil {
			found = append(found, fmt.Sprintf("Member %d doesn't answer: see to it, or take it out of the client's endpoints.", i+1))
		}
	}
	if !answered {
		return explain(errors.Join(errs...))
	}
	found = append(found, s.openDoor(ctx)...)
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	s.check.found, s.check.looked = found, true
	return nil
}

// openDoor finds that the password in the URL protects nothing.
func (s *Store) openDoor(ctx context.Context) []string {
	if s.login == nil {
		return nil
	}
	if got, err := s.client.AuthStatus(ctx); err != nil || got.Enabled {
		return nil // who may not ask is asked for the password
	}
	return []string{"The cluster doesn't ask for the password in the URL: enable authentication, or leave user and password out."}
}

// fixed lists, for each minor version, the first release that doesn't confirm the refresh of a lease that has ended.
var fixed = map[[2]int]int{{3, 4}: 38, {3, 5}: 23, {3, 6}: 5}

// judge finds what endangers leases in a member's state.
func judge(st *clientv3.StatusResponse) (found []string) {
	if old, known := tooOld(st.Version); known && old {
		found = append(found, fmt.Sprintf("etcd %s may confirm the refresh of a lease that has ended: upgrade to 3.4.38, 3.5.23, 3.6.5 or later.", st.Version))
	}
	if st.IsLearner {
		found = append(found, "it is a learner, which serves no leases: take it out of the client's endpoints until it is promoted.")
	}
	for _, text := range st.Errors {
		if strings.Contains(text, "NOSPACE") {
			found = append(found, "alarm NOSPACE: nobody can acquire or release, and a dead leader has no successor: compact and defragment, then run etcdctl alarm disarm.")
		}
	}
	if st.DbSizeQuota > 0 && st.DbSizeInUse > st.DbSizeQuota/10*9 {
		found = append(found, "the database has nearly reached its quota, at which all writes are refused: compact it, or raise --quota-backend-bytes.")
	}
	return found
}

func tooOld(version string) (old, known bool) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) != 3 {
		return false, false
	}
	var n [3]int
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "-")
		var err error
		if n[i], err = strconv.Atoi(p); err != nil {
			return false, false
		}
	}
	if n[0] < 3 || n[0] == 3 && n[1] < 4 {
		return true, true
	}
	patch, listed := fixed[[2]int{n[0], n[1]}]
	return listed && n[2] < patch, true
}

// Warnings implements backend.Warner. What concerns the cluster is known soon after the first call that succeeded.
func (s *Store) Warnings() []string {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	return append(append([]string(nil), s.check.fixed...), s.check.found...)
}

package main

import (
	"syscall"
	"testing"
)

func TestGuardianKilled(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, f := leader(t, s, nil, child("tell", "terminated")...)
	f.guardian.kill()
	gone(t, "a killed guardian", f.guardian, f.child)
	again := p.family(2)
	tokens := fields(p.stderr.String(), "token")
	if last := tokens[len(tokens)-1]; last <= tokens[0] {
		t.Errorf("the tokens are %v", tokens)
	}
	p.send(syscall.SIGTERM)
	p.code()
	gone(t, "a step-down", again.guardian, again.child)
	nobody(t, s)
}

func TestTenureKilled(t *testing.T) {
	t.Parallel()
	s := sqlite(t)
	p, f := leader(t, s, []string{"--ttl", "1600ms"}, child("tell", "terminated")...)
	p.send(syscall.SIGKILL)
	gone(t, "a killed tenure", f.child, f.guardian)
	leader(t, s, nil, child("tell", "terminated")...)
}

package elector

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
)

// Limits as the stores declare them.
var declaredLimits = []backend.Limits{
	{},
	{Store: "redis", MinTTL: 100 * time.Millisecond, MaxTTL: longestNeed, Granularity: time.Millisecond, WallClock: true},
	{Store: "redis", MinTTL: 100 * time.Millisecond, MaxTTL: longestNeed, Granularity: time.Millisecond, WallClock: true, ClockStep: 400 * time.Millisecond},
	{Store: "redis", MinTTL: 100 * time.Millisecond, MaxTTL: longestNeed, Granularity: time.Millisecond, Expiry: backend.Observed},
	{Store: "etcd", MinTTL: 2 * time.Second, MaxTTL: longestNeed, Granularity: time.Second, ExpiryLag: time.Second, RenewRequests: 2},
	{Store: "consul", MinTTL: time.Second, MaxTTL: 24 * time.Hour, Granularity: time.Millisecond, Expiry: backend.Beat, FollowerRequests: 8},
}

// A10: without needs the advice is what a zero Config has, so that nobody gets worse settings by asking.
func TestAdviceWithoutNeedsIsTheDefault(t *testing.T) {
	got, err := Advise(Needs{})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Store: memory.New(), Election: "e"}.withDefaults()
	want := Advice{TTL: c.TTL, RenewInterval: c.RenewInterval, AttemptTimeout: c.AttemptTimeout, SafetyMargin: c.SafetyMargin, StepDownMargin: c.StepDownMargin, Timing: c.Timing()}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if w := c.Warnings(Needs{}); w != nil {
		t.Errorf("a zero Config: %v", w)
	}
}

// A10, B5, B6: whatever is advised passes Validate, gives no warnings, and its Timing is what was asked for; what is refused can't be met by any setting that was tried.
func TestEveryAdviceKeepsItsPromise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	maybe := func(most time.Duration) time.Duration { // zero, or anything up to most on a logarithmic scale
		if r.IntN(2) == 0 {
			return 0
		}
		return most >> r.IntN(16) * time.Duration(1+r.IntN(100)) / 100
	}
	advised := 0
	for range 1000 {
		n := Needs{
			Limits: declaredLimits[r.IntN(len(declaredLimits))], Zones: []Zones{"", SingleZone, MultiZone}[r.IntN(3)],
			RunTime: maybe(12 * time.Hour), RoundTrip: maybe(2 * time.Second), Outage: maybe(time.Hour), FailOver: maybe(4 * time.Hour),
		}
		a, err := Advise(n)
		var conflict *ConflictError
		switch {
		case err == nil:
			advised++
			checkAdvice(t, n, a)
		case !errors.As(err, &conflict) || !errors.Is(err, backend.ErrInvalid) || len(conflict.Fields) == 0:
			t.Errorf("%+v: %v", n, err)
		case n.FailOver == 0 && n.Limits.Store != "consul":
			t.Errorf("%+v: refused although a longer TTL does it: %v", n, err)
		}
		if t.Failed() {
			return
		}
	}
	if advised < 250 {
		t.Errorf("only %d of the needs were met: the test tests little", advised)
	}
}

func checkAdvice(t *testing.T, n Needs, a Advice) {
	t.Helper()
	full := n.withDefaults()
	c := a.Apply(Config{Store: declared{limits: full.Limits}, Election: "e", Logger: quiet})
	if err := c.Validate(); err != nil {
		t.Errorf("%+v: %+v: %v", n, a, err)
		return
	}
	if w := c.Warnings(n); w != nil {
		t.Errorf("%+v: %+v: %v", n, a, w)
	}
	got := c.Timing()
	switch budget := full.skewBudget(); {
	case got != a.Timing:
		t.Errorf("%+v: promises %+v, is %+v", n, a.Timing, got)
	case got.OutageSurvived < n.Outage, n.FailOver > 0 && got.FailOver > n.FailOver, got.SkewTolerated < budget:
		t.Errorf("%+v: %+v", n, got)
	case n.RunTime > 0 && a.TTL < max(3*n.RunTime, 30*time.Second), a.RenewInterval > a.TTL/3:
		t.Errorf("%+v: TTL %v, heartbeat %v", n, a.TTL, a.RenewInterval)
	case full.Limits.Granularity > 0 && a.TTL%full.Limits.Granularity != 0:
		t.Errorf("%+v: the store rounds the TTL %v", n, a.TTL)
	}
}

// B5, B6: the users' own figures.
func TestAdviceInTheUsersFigures(t *testing.T) {
	for _, c := range []struct {
		name                          string
		needs                         Needs
		ttl, leastRenewal, mostRenews time.Duration
	}{
		{"p99 of 15 s: TTL 45 s, heartbeat 10 to 15 s", Needs{RunTime: 15 * time.Second}, 45 * time.Second, 10 * time.Second, 15 * time.Second},
		{"a short job gets 30 s", Needs{RunTime: time.Second}, 30 * time.Second, 5 * time.Second, 10 * time.Second},
		{"p99 of 2 min", Needs{RunTime: 2 * time.Minute, RoundTrip: 5 * time.Millisecond, Zones: MultiZone}, 6 * time.Minute, time.Minute, 2 * time.Minute},
		{"several regions", Needs{Zones: MultiZone}, 15 * time.Second, 3 * time.Second, 5 * time.Second},
	} {
		a, err := Advise(c.needs)
		if err != nil || a.TTL != c.ttl || a.RenewInterval < c.leastRenewal || a.RenewInterval > c.mostRenews {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
	for zones, budget := range map[Zones]time.Duration{SingleZone: 150 * time.Millisecond, MultiZone: 500 * time.Millisecond} {
		// The shortest TTLs are where the budget, not a part of the TTL, is the margin.
		a, err := Advise(Needs{Zones: zones, RoundTrip: time.Millisecond, FailOver: 1800*time.Millisecond + 2*budget})
		if err != nil || a.SafetyMargin != budget || a.Timing.SkewTolerated != budget {
			t.Errorf("%s: %+v, %v", zones, a, err)
		}
	}
}

func TestNeedsThatContradictEachOther(t *testing.T) {
	for _, c := range []struct {
		name  string
		needs Needs
		want  []string
	}{
		{"outage", Needs{FailOver: 2 * time.Second, Outage: 30 * time.Second}, []string{"FailOver", "Outage"}},
		{"run time", Needs{FailOver: 10 * time.Second, RunTime: 2 * time.Minute, RoundTrip: time.Millisecond}, []string{"FailOver", "RunTime"}},
		{"round trip", Needs{FailOver: 3 * time.Second, RoundTrip: 400 * time.Millisecond}, []string{"FailOver", "RoundTrip"}},
		{"zones", Needs{FailOver: time.Second, Zones: MultiZone}, []string{"FailOver", "Zones"}},
		{"both of two", Needs{FailOver: 2 * time.Second, Outage: time.Minute, RunTime: time.Minute}, []string{"FailOver", "RunTime", "Outage"}},
		{"the store's least TTL", Needs{FailOver: 3 * time.Second, Limits: declaredLimits[4]}, []string{"FailOver", "Limits"}},
		{"the store's longest TTL", Needs{RunTime: 9 * time.Hour, Limits: declaredLimits[5]}, []string{"RunTime", "Limits"}},
		{"nothing can do that", Needs{FailOver: 50 * time.Millisecond}, []string{"FailOver"}},
	} {
		_, err := Advise(c.needs)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || !slices.Equal(conflict.Fields, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, n := range []Needs{{Zones: "both"}, {Outage: -1}, {RunTime: 1 << 62}, {FailOver: longestNeed + 1}, {RoundTrip: time.Minute}} {
		if _, err := Advise(n); !errors.Is(err, backend.ErrInvalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

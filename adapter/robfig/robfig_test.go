package robfig_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/adapter/robfig"
	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newGate(t *testing.T, server *memory.Server, id string, least time.Duration) *elector.Gate {
	t.Helper()
	g, err := elector.NewGate(elector.GateConfig{
		Elector: elector.Config{Store: server.Client(), Election: "e", Candidate: backend.Candidate{ID: id}, Logger: slog.New(slog.DiscardHandler)},
		AtLeast: least,
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// late is a schedule on a machine whose clock is behind.
type late struct {
	cron.Schedule
	by time.Duration
}

func (l late) Next(now time.Time) time.Time { return l.Schedule.Next(now.Add(-l.by)).Add(l.by) }

// C1, C3, C4: servers with the same entries, and clocks that differ, run each tick once; one that stops leaves the ticks to the others.
func TestOneServerRunsEachTick(t *testing.T) {
	for least, want := range map[time.Duration]int{30 * time.Second: 10, 0: 30} { // without a least time all clocks have a run of their own
		synctest.Test(t, func(t *testing.T) {
			server := memory.NewServer()
			every, err := cron.ParseStandard("* * * * *")
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			runs := map[string]int{}
			var held, other int
			start := func(id string, by time.Duration) (stop func()) {
				g := newGate(t, server, id, least)
				c := cron.New()
				work := robfig.Work(func(context.Context, *elector.Term) error {
					mu.Lock()
					defer mu.Unlock()
					runs[id]++
					return nil
				})
				c.Schedule(late{every, by}, cron.NewChain(robfig.Wrapper(t.Context(), g, func(err error) {
					mu.Lock()
					defer mu.Unlock()
					switch {
					case errors.Is(err, backend.ErrHeld):
						held++
					case err != nil:
						other++
						t.Error(err)
					}
				})).Then(work))
				c.Start()
				return func() {
					<-c.Stop().Done()
					_ = g.Close()
				}
			}
			<-time.After(30 * time.Second) // in the middle of a minute on all clocks
			stops := []func(){start("a", 0), start("b", 3*time.Second), start("c", 20*time.Second)}
			<-time.After(10 * time.Minute)
			mu.Lock()
			if total := runs["a"] + runs["b"] + runs["c"]; total != want || total+held != 30 {
				t.Errorf("least %v: ran %v, held %d, want %d runs", least, runs, held, want)
			}
			clear(runs)
			mu.Unlock()
			stops[0]()
			<-time.After(10 * time.Minute)
			mu.Lock()
			if least > 0 && (runs["a"] != 0 || runs["b"]+runs["c"] != 10) {
				t.Errorf("without a: ran %v", runs)
			}
			mu.Unlock()
			stops[1]()
			stops[2]()
		})
	}
}

// Work is told that its lease is lost, with the cause, and so is who asked; ctx ends it too.
func TestWorkIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		g := newGate(t, server, "a", 0)
		causes := make(chan error, 1)
		work := robfig.Work(func(ctx context.Context, _ *elector.Term) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		})
		why := errors.New("shutdown")
		ctx, cancel := context.WithCancelCause(t.Context())
		outcomes := make(chan error, 1)
		job := robfig.Wrapper(ctx, g, func(err error) { outcomes <- err })(work)
		go job.Run()
		synctest.Wait()
		server.Remove("e")
		if cause, err := <-causes, <-outcomes; !errors.Is(cause, elector.ErrLost) || !errors.Is(err, elector.ErrLost) {
			t.Error(cause, err)
		}
		go job.Run()
		<-time.After(time.Minute)
		cancel(why)
		if cause, err := <-causes, <-outcomes; !errors.Is(cause, why) || !errors.Is(err, why) {
			t.Error(cause, err)
		}
		job.Run()
		if err := <-outcomes; !errors.Is(err, why) {
			t.Errorf("a tick after the end: %v", err)
		}
		_ = g.Close()
	})
}

// B35: work outside of a gate says so. Any other job runs as it is.
func TestWorkOutsideOfAGate(t *testing.T) {
	func() {
		defer func() {
			if r, ok := recover().(string); !ok || !strings.Contains(r, "behind a gate only") {
				t.Error(r)
			}
		}()
		robfig.Work(nil).Run()
	}()
	g := newGate(t, memory.NewServer(), "a", time.Hour)
	defer g.Close()
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	ran := 0
	job := robfig.Wrapper(t.Context(), g, nil)(cron.FuncJob(func() { ran++ }))
	job.Run()
	job.Run()
	if ran != 1 || strings.Count(out.String(), "level=DEBUG") != 2 || !strings.Contains(out.String(), "kept free") {
		t.Errorf("ran %d times, log:\n%s", ran, out.String())
	}
}

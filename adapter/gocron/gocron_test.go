package gocron_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"go.uber.org/goleak"

	tenure "github.com/tenure-go/tenure/adapter/gocron"
	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/memory"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(server *memory.Server, id string) elector.Config {
	return elector.Config{
		Store: server.Client(), Election: "jobs", Candidate: backend.Candidate{ID: id}, TTL: 2 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
}

func newLocker(t *testing.T, cfg elector.GateConfig) *tenure.Locker {
	t.Helper()
	l, err := tenure.NewLocker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// counts is what the servers of a test did and were refused.
type counts struct {
	mu               sync.Mutex
	runs             map[string]int
	at               []time.Duration
	held, other, now int
}

// ran notes the beginning of a run, and that there is no other.
func (c *counts) ran(t *testing.T, by string, at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[string]int{}
	}
	c.runs[by]++
	c.at = append(c.at, at)
	if c.now++; c.now > 1 {
		t.Error("two run at once")
	}
}

func (c *counts) returned() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
}

func (c *counts) by() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.runs)
}

func (c *counts) refused(_ uuid.UUID, _ string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, backend.ErrHeld) {
		c.held++
	} else {
		c.other++
	}
}

func schedule(t *testing.T, every time.Duration, task any, schedulerOptions []gocron.SchedulerOption, jobOptions ...gocron.JobOption) gocron.Scheduler {
	t.Helper()
	s, err := gocron.NewScheduler(schedulerOptions...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewJob(gocron.DurationJob(every), gocron.NewTask(task), append(jobOptions, gocron.WithName("report"))...); err != nil {
		t.Fatal(err)
	}
	s.Start()
	return s
}

func shutdown(t *testing.T, s gocron.Scheduler) {
	t.Helper()
	if err := s.Shutdown(); err != nil {
		t.Error(err)
	}
}

// B1, B2, B6, C3: interval jobs of three servers, started two seconds apart, run once per interval, with every option of gocron that limits jobs.
func TestIntervalJobsRunOncePerInterval(t *testing.T) {
	for what, options := range map[string]struct {
		scheduler []gocron.SchedulerOption
		job       []gocron.JobOption
	}{
		"plain":     {},
		"singleton": {job: []gocron.JobOption{gocron.WithSingletonMode(gocron.LimitModeReschedule)}},
		"waiting":   {job: []gocron.JobOption{gocron.WithSingletonMode(gocron.LimitModeWait)}},
		"limited":   {scheduler: []gocron.SchedulerOption{gocron.WithLimitConcurrentJobs(1, gocron.LimitModeReschedule)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := memory.NewServer()
			began := time.Now()
			var c counts
			var stops []func()
			for _, id := range []string{"a", "b", "c"} {
				l := newLocker(t, elector.GateConfig{Elector: config(server, id), AtLeast: 9 * time.Second})
				task := l.Task("report", func(context.Context, *elector.Term) error {
					c.ran(t, id, time.Since(began))
					defer c.returned()
					<-time.After(50 * time.Millisecond)
					return nil
				})
				s := schedule(t, 10*time.Second, task, append(options.scheduler, gocron.WithDistributedLocker(l)),
					append(options.job, gocron.WithEventListeners(gocron.AfterLockError(c.refused)))...)
				stops = append(stops, func() { shutdown(t, s); _ = l.Close() })
				<-time.After(2 * time.Second)
			}
			<-time.After(59 * time.Second)
			c.mu.Lock()
			if c.runs["a"] != 6 || len(c.runs) != 1 || c.held < 12 || c.other != 0 {
				t.Errorf("%s: in 65 s ran %v at %v, refused %d, for other reasons %d", what, c.runs, c.at, c.held, c.other)
			}
			c.mu.Unlock()
			for _, stop := range stops {
				stop()
			}
		})
	}
}

// B3: a task that takes longer than its TTL keeps its lease: no second one runs.
func TestATaskLongerThanItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		var c counts
		var stops []func()
		for _, id := range []string{"a", "b"} {
			l := newLocker(t, elector.GateConfig{Elector: config(server, id)})
			task := l.Task("report", func(ctx context.Context, term *elector.Term) error {
				c.ran(t, id, 0)
				defer c.returned()
				select {
				case <-time.After(7 * time.Second):
				case <-ctx.Done(): // the scheduler shuts down: it spins then, and no time passes
					return nil
				}
				if token, ok := fence.FromContext(ctx); !ok || token != term.Token() || !term.Valid() || ctx.Err() != nil {
					t.Errorf("after 7 s: %v, %v", token, ctx.Err())
				}
				return nil
			})
			s := schedule(t, time.Second, task, []gocron.SchedulerOption{gocron.WithDistributedLocker(l)}, gocron.WithEventListeners(gocron.AfterLockError(c.refused)))
			stops = append(stops, func() { shutdown(t, s); _ = l.Close() })
		}
		<-time.After(30*time.Second + time.Millisecond)
		for _, stop := range stops {
			stop()
		}
		runs := c.by()
		if total := runs["a"] + runs["b"]; total < 4 || total > 5 {
			t.Errorf("ran %v", runs)
		}
	})
}

// B11, B34: a task is told when its lease is lost, and gocron of the error.
func TestATaskIsToldOfTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		l := newLocker(t, elector.GateConfig{Elector: config(server, "a")})
		causes, failures := make(chan error, 1), make(chan error, 1)
		task := l.Task("report", func(ctx context.Context, _ *elector.Term) error {
			server.Remove("jobs/report")
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		})
		s := schedule(t, time.Second, task, []gocron.SchedulerOption{gocron.WithDistributedLocker(l)},
			gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) {
				select {
				case failures <- err:
				default:
				}
			})))
		if cause, err := <-causes, <-failures; !errors.Is(cause, elector.ErrLost) || !errors.Is(err, elector.ErrLost) {
			t.Error(cause, err)
		}
		shutdown(t, s)
		_ = l.Close()
		if _, err := l.Lock(t.Context(), "report"); !errors.Is(err, elector.ErrClosed) {
			t.Error(err)
		}
	})
}

// B35: a task whose job gocron never asked for a lease does nothing and says why. Here the elector option turns the locker off, and there the name differs.
func TestATaskWithoutALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		l := newLocker(t, elector.GateConfig{Elector: config(server, "a")})
		never := func(context.Context, *elector.Term) error { t.Error("it ran"); return nil }
		for name, options := range map[string][]gocron.SchedulerOption{
			"report": {gocron.WithDistributedLocker(l), gocron.WithDistributedElector(always{})},
			"other":  {gocron.WithDistributedLocker(l)},
		} {
			failures := make(chan error, 10)
			s := schedule(t, time.Second, l.Task(name, never), options,
				gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failures <- err })))
			if err := <-failures; !errors.Is(err, elector.ErrNotLeading) {
				t.Error(err)
			}
			shutdown(t, s)
		}
		_ = l.Close()
	})
}

type always struct{}

func (always) IsLeader(context.Context) error { return nil }

// The scheduler's shutdown ends the task, and the election is free for others at once.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		l := newLocker(t, elector.GateConfig{Elector: config(server, "a")})
		started, causes := make(chan struct{}), make(chan error, 1)
		task := l.Task("report", func(ctx context.Context, _ *elector.Term) error {
			close(started)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		})
		s := schedule(t, time.Second, task, []gocron.SchedulerOption{gocron.WithDistributedLocker(l)})
		<-started
		shutdown(t, s)
		if err := <-causes; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		other := newLocker(t, elector.GateConfig{Elector: config(server, "b")})
		k, err := other.Lock(t.Context(), "report")
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"", "\xff", strings.Repeat("x", 300)} {
			k, err := other.Lock(t.Context(), name)
			if (name == "") != (err == nil) || err != nil && !errors.Is(err, backend.ErrInvalid) {
				t.Errorf("a job named %.20q: %v", name, err)
			}
			if err == nil {
				_ = k.Unlock(t.Context())
			}
		}
		_ = l.Close()
		_ = other.Close()
		if _, err := tenure.NewLocker(elector.GateConfig{}); !errors.Is(err, backend.ErrInvalid) {
			t.Error(err)
		}
	})
}

// The leader's scheduler runs all ticks; when it steps down, its tasks are told, awaited, and the next one goes on.
func TestElector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		began := time.Now()
		var c counts
		type instance struct {
			*tenure.Elector
			scheduler gocron.Scheduler
			stop      func()
		}
		start := func(id string) instance {
			e, err := elector.New(config(server, id))
			if err != nil {
				t.Fatal(err)
			}
			l := tenure.NewElector(e)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- l.Run(ctx) }()
			task := l.Task(func(ctx context.Context, _ *elector.Term) error {
				c.ran(t, id, time.Since(began))
				defer c.returned()
				select {
				case <-time.After(900 * time.Millisecond):
					return nil
				case <-ctx.Done():
					<-time.After(10 * time.Second)
					return ctx.Err()
				}
			})
			s := schedule(t, time.Second, task, []gocron.SchedulerOption{gocron.WithDistributedElector(l)})
			return instance{l, s, func() {
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				_ = e.Close()
			}}
		}
		a := start("a")
		<-time.After(100 * time.Millisecond)
		b := start("b")
		<-time.After(10 * time.Second)
		if runs := c.by(); runs["b"] != 0 || runs["a"] < 9 {
			t.Errorf("ran %v", runs)
		}
		if err := b.IsLeader(t.Context()); !errors.Is(err, elector.ErrNotLeading) {
			t.Error(err)
		}
		<-time.After(500 * time.Millisecond) // into a task
		a.stop()
		if err := a.IsLeader(t.Context()); !errors.Is(err, elector.ErrNotLeading) {
			t.Error(err)
		}
		<-time.After(5 * time.Second)
		if runs := c.by(); runs["b"] < 4 {
			t.Errorf("ran %v", runs)
		}
		b.stop()
		shutdown(t, a.scheduler)
		shutdown(t, b.scheduler)
		if err := a.Task(func(context.Context, *elector.Term) error { return nil })(t.Context()); !errors.Is(err, elector.ErrNotLeading) {
			t.Error(err)
		}
	})
}

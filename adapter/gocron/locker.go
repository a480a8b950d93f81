package gocron

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure/elector"
)

// Locker is a gocron.Locker with a gate for each job. Make one with NewLocker; it is safe for concurrent use.
type Locker struct {
	cfg elector.GateConfig

	mu     sync.Mutex
	closed bool
	gates  map[string]*elector.Gate
	passes map[string]*elector.Pass // of the jobs that run at the moment
}

var _ gocron.Locker = (*Locker)(nil)

// NewLocker returns a locker whose jobs have the elections Election/name of cfg's Election. All else in cfg is for each of them. Choose AtLeast longer than the servers' clocks, or for a DurationJob their starts, may differ: a short
// job would run twice in one tick otherwise. It returns an error that wraps backend.ErrInvalid when cfg is not valid. It does not contact the store.
func NewLocker(cfg elector.GateConfig) (*Locker, error) {
	g, err := elector.NewGate(cfg)
	if err != nil {
		return nil, err
	}
	cfg = g.Config() // one candidate for all jobs
	_ = g.Close()
	return &Locker{cfg: cfg, gates: map[string]*elector.Gate{}, passes: map[string]*elector.Pass{}}, nil
}

// Lock implements gocron.Locker. key is the job's name: give it one, since that of a function differs between builds. Errors are those of elector.Gate.Enter: one that wraps backend.ErrHeld says that another server runs the tick.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	gate, err := l.gate(key)
	if err != nil {
		return nil, err
	}
	pass, err := gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passes[key] = pass
	return &lock{locker: l, key: key, pass: pass}, nil
}

// gate returns the gate of a job, made on its first tick.
func (l *Locker) gate(key string) (*elector.Gate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("gocron: job %q: %w", key, elector.ErrClosed)
	}
	if g := l.gates[key]; g != nil {
		return g, nil
	}
	cfg := l.cfg
	cfg.Elector.Election += "/" + key
	g, err := elector.NewGate(cfg)
	if err != nil {
		return nil, fmt.Errorf("gocron: job %q: %w", key, err)
	}
	l.gates[key] = g
	return g, nil
}

// Task returns a function for gocron.NewTask that does work under the lease of the job of the given name, see elector.Pass.Do. Its context ends with the lease, after AtMost, and with the job's. It returns an error that wraps
// elector.ErrNotLeading, and does nothing, where gocron has not asked this locker for that job.
func (l *Locker) Task(name string, work func(ctx context.Context, term *elector.Term) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		l.mu.Lock()
		pass := l.passes[name]
		l.mu.Unlock()
		if pass == nil {
			return fmt.Errorf("gocron: job %q: %w: gocron has not asked the locker for a job of this name", name, elector.ErrNotLeading)
		}
		return pass.Do(ctx, work)
	}
}

// Close refuses further ticks, tells tasks that run to end, and returns when they have and their elections are given back, see elector.Gate.Close. Shut the scheduler down first. It returns nil.
func (l *Locker) Close() error {
	l.mu.Lock()
	l.closed = true
	gates := l.gates
	l.gates = map[string]*elector.Gate{}
	l.mu.Unlock()
	var all sync.WaitGroup
	for _, g := range gates {
		all.Go(func() { _ = g.Close() })
	}
	all.Wait()
	return nil
}

// lock is one tick of one job.
type lock struct {
	locker *Locker
	key    string
	pass   *elector.Pass
}

// Unlock implements gocron.Lock. The election is given back, or for the rest of AtLeast kept, even if ctx has ended, as it has when the scheduler shuts down.
func (k *lock) Unlock(ctx context.Context) error {
	k.locker.mu.Lock()
	if k.locker.passes[k.key] == k.pass {
		delete(k.locker.passes, k.key)
	}
	k.locker.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.locker.cfg.Elector.AttemptTimeout)
	defer cancel()
	return k.pass.Leave(ctx)
}

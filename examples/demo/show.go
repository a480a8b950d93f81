package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
)

// show is one performance.
type show struct {
	folder  string
	screen  *screen
	look    *elector.Elector // never campaigns, only asks who leads
	pause   time.Duration
	mu      sync.Mutex
	started []*process // all that were ever started; two of one name never live at once
}

// perform plays the script once and judges what the candidates have written.
func perform(ctx context.Context, o options, s *screen) (v verdict, err error) {
	folder, err := os.MkdirTemp("", "tenure-demo-")
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(folder)
	store, err := backend.Open(ctx, storeURL(folder))
	if err != nil {
		return v, err
	}
	defer store.Close()
	look, err := elector.New(elector.Config{Store: store, Election: election, TTL: ttl})
	if err != nil {
		return v, err
	}
	sh := &show{folder: folder, screen: s, look: look, pause: 4400 * time.Millisecond}
	if o.quick {
		sh.pause = time.Second
	}
	names := []string{"ada", "bob", "cyd"}
	if o.cheat {
		names[2] = cheater
	}
	stalls, err := sh.watched(ctx, func(ctx context.Context) error { return sh.script(ctx, names) })
	if err != nil {
		return v, err
	}
	if v, err = judge(worklogPath(folder)); err != nil {
		return v, err
	}
	v.stalls, v.names = stalls, map[int]string{}
	for _, p := range sh.started {
		v.names[p.cmd.Process.Pid] = p.name
	}
	return v, nil
}

// watched plays a script while the picture is drawn and the machine is watched. When it returns, everything that was started has ended.
func (s *show) watched(ctx context.Context, script func(context.Context) error) (stalls []stall, err error) {
	ctx, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { s.draw(ctx) })
	beside.Go(func() { stalls = watchStalls(ctx) })
	err = script(ctx)
	end()
	for _, p := range s.started {
		<-p.ended
		if err == nil {
			err = p.failure()
		}
	}
	beside.Wait()
	s.screen.erase()
	return stalls, err
}

// script is what happens, in order.
func (s *show) script(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := s.start(ctx, name); err != nil {
			return err
		}
	}
	first, err := s.successor(ctx, nil)
	if err != nil {
		return err
	}
	s.screen.say("SIGKILL to %s, which leads. It can't release its lease: that has to run out.", first.name)
	if err := first.kill(); err != nil {
		return err
	}
	second, err := s.successor(ctx, first)
	if err != nil {
		return err
	}
	s.screen.say("%s is started again. It is a new candidate, and follows.", first.name)
	if err := s.start(ctx, first.name); err != nil {
		return err
	}
	if err := wait(ctx, s.pause); err != nil {
		return err
	}
	s.screen.say("SIGTERM to %s, which leads. It ends its work, then releases the lease.", second.name)
	if err := second.terminate(); err != nil {
		return err
	}
	third, err := s.successor(ctx, second)
	if err != nil {
		return err
	}
	return s.finish(ctx, third)
}

// start starts a candidate and shows what it prints.
func (s *show) start(ctx context.Context, name string) error {
	p, err := launch(ctx, name, s.folder, func(text string) { s.screen.tell(name, text) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, p)
	return nil
}

// successor waits until another than before leads, lets it work for a while, and returns it.
func (s *show) successor(ctx context.Context, before *process) (*process, error) {
	const patience = ttl + 10*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nobody took over within %v", patience))
	defer cancel()
	for {
		leader, err := s.look.Leader(ctx)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		for _, p := range s.all() {
			if p != before && p.id == leader.Candidate.ID && p.alive() {
				return p, wait(ctx, s.pause)
			}
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// finish ends the followers first, so that nobody succeeds the last leader.
func (s *show) finish(ctx context.Context, leader *process) error {
	s.screen.say("The end: SIGTERM to the followers, then to %s.", leader.name)
	followers := slices.DeleteFunc(s.all(), func(p *process) bool { return p == leader || !p.alive() })
	for _, p := range append(followers, leader) {
		if err := p.terminate(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%s does not end", p.name)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// all returns every process that was ever started, in order.
func (s *show) all() []*process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.started)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/elector"
)

// draw shows who leads until ctx ends: a picture ten times per second on a terminal, else a line per second.
func (s *show) draw(ctx context.Context) {
	every := time.Second
	if s.screen.live {
		every = 100 * time.Millisecond
	}
	for wait(ctx, every) == nil {
		leader, err := s.look.Leader(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.screen.say("Nobody knows who leads: %v", err)
		case s.screen.live:
			s.screen.draw(s.picture(leader))
		default:
			s.screen.say("%s", s.status(leader))
		}
	}
}

// picture is a line for each name.
func (s *show) picture(leader elector.Leader) (rows []string) {
	const width = 20
	for _, p := range s.cast() {
		lease := ""
		if leader.Candidate.ID == p.id {
			left := min(max(int(leader.Remaining*width/ttl), 0), width)
			lease = fmt.Sprintf("lease %s%s %.1f s", strings.Repeat("█", left), strings.Repeat("░", width-left), leader.Remaining.Seconds())
		}
		part := p.part(leader)
		rows = append(rows, fmt.Sprintf("  %s %-4s %-9s %s", s.screen.paint(part, "●"), p.name, part, lease))
	}
	return rows
}

// status is the same in one line.
func (s *show) status(leader elector.Leader) string {
	var parts []string
	for _, p := range s.cast() {
		part := p.name + " " + p.part(leader)
		if leader.Candidate.ID == p.id {
			part += fmt.Sprintf(" (lease %.1f s)", leader.Remaining.Seconds())
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " | ")
}

// cast is the latest process of each name.
func (s *show) cast() (latest []*process) {
	at := map[string]int{}
	for _, p := range s.all() {
		if i, known := at[p.name]; known {
			latest[i] = p
			continue
		}
		at[p.name] = len(latest)
		latest = append(latest, p)
	}
	return latest
}

// What a candidate does, as the picture has it.
const (
	leads   = "LEADS"
	follows = "follows"
	killed  = "is killed"
	gone    = "has ended"
	cheats  = "cheats"
)

func (p *process) part(leader elector.Leader) string {
	switch {
	case p.killed.Load():
		return killed
	case !p.alive():
		return gone
	case p.name == cheater:
		return cheats
	case leader.Candidate.ID == p.id:
		return leads
	}
	return follows
}

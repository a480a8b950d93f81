package elector

import (
	"sync"
	"time"
)

// abreast is how many requests of one kind a loop has under way at a time, however many elections it looks after.
const abreast = 8

// lane runs jobs of one kind, some at a time, on goroutines that live while there are any. Each kind has its own, so that none waits for another: a hung guard delays no
// release. Renewals wait in no lane.
type lane struct {
	mu     sync.Mutex
	busy   int
	narrow int // while it is above zero, one job at a time is begun
	queue  []job
}

type job struct {
	since time.Time
	limit time.Duration
	run   func(late bool) // late: it has waited longer than the limit, and is only to say so
}

// do runs f soon. It never blocks.
func (l *lane) do(limit time.Duration, f func(late bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, job{since: time.Now(), limit: limit, run: f})
	l.begin()
}

// begin starts as many goroutines as there is work and room for. Callers hold mu.
func (l *lane) begin() {
	for l.busy < min(l.width(), len(l.queue)) {
		l.busy++
		go l.work()
	}
}

func (l *lane) width() int {
	if l.narrow > 0 {
		return 1
	}
	return abreast
}

// giveWay narrows the lane while something more urgent is under way, and with -1 ends that.
func (l *lane) giveWay(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.narrow += by
	l.begin()
}

func (l *lane) work() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 || l.busy > l.width() {
			l.busy--
			l.mu.Unlock()
			return
		}
		j := l.queue[0]
		l.queue[0] = job{}
		l.queue = l.queue[1:]
		l.mu.Unlock()
		j.run(time.Since(j.since) > j.limit)
	}
}

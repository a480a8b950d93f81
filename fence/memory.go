package fence

import (
	"context"
	"sync"
	"time"
)

// Memory is a guard for a resource in this process's memory: a cache, a connection, a file that only this process writes. It keeps one
// mark for each election and forgets them with the process. The zero value is ready; it is safe for concurrent use and must not
// be copied after first use.
type Memory struct {
	mu    sync.Mutex
	marks map[string]Token
}

var _ Sealer = (*Memory)(nil)

// Seal raises the mark of the election to t. It returns a [*StaleError] when a higher token was seen, an error that
// wraps [ErrInvalid] when t is no token, and ctx's cause when ctx has already ended.
func (g *Memory) Seal(ctx context.Context, election string, t Token) error {
	return g.Do(ctx, election, t, func() error { return nil })
}

// Do runs write under the guard's lock if t is not stale, and returns what write returns. Check and write are one step: while write
// runs, no other write of any election passes this guard. The errors of the check are those of [Memory.Seal]; write has not run then.
func (g *Memory) Do(ctx context.Context, election string, t Token, write func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	mark, err := Admit(g.marks[election], t, time.Now())
	if err != nil {
		return err
	}
	if g.marks == nil {
		g.marks = make(map[string]Token)
	}
	g.marks[election] = mark
	return write()
}

// Mark returns the highest token seen for the election; zero when there was none.
func (g *Memory) Mark(election string) Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.marks[election]
}

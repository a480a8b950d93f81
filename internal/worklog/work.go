package worklog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// Log is one worker's end of a work log.
type Log struct {
	file  *os.File
	token int64
}

// Open opens the work log at path for a worker under a token.
func Open(path string, token int64) (*Log, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{file: f, token: token}, nil
}

// Write appends a line with one write.
func (l *Log) Write(k Kind) error {
	now, ok := clock.Boot()
	if !ok {
		return errors.New("worklog: this system has no boot clock")
	}
	_, err := fmt.Fprintln(l.file, Line{At: time.Duration(now), Kind: k, Token: l.token, PID: os.Getpid()})
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Work writes start, a beat at each interval until ctx ends, and then stop.
func (l *Log) Work(ctx context.Context, interval time.Duration) error {
	if err := l.Write(Start); err != nil {
		return err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return l.Write(Stop)
		case <-tick.C:
			if err := l.Write(Beat); err != nil {
				return err
			}
		}
	}
}

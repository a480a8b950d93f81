package main

import (
	"path/filepath"
	"time"

	"github.com/tenure-go/tenure/internal/worklog"
)

// beat is how often a candidate at work says so.
const beat = 10 * time.Millisecond

func worklogPath(folder string) string { return filepath.Join(folder, "worklog") }

// record writes to the work log that this process is at work, before the first piece of it, until stop is called, after the last.
func record(folder string, token int64) (stop func() error, err error) {
	log, err := worklog.Open(worklogPath(folder), token)
	if err != nil {
		return nil, err
	}
	if err := log.Write(worklog.Start); err != nil {
		log.Close()
		return nil, err
	}
	end, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- beats(log, end) }()
	return func() error {
		defer log.Close()
		close(end)
		if err := <-ended; err != nil {
			return err
		}
		return log.Write(worklog.Stop)
	}, nil
}

func beats(log *worklog.Log, end <-chan struct{}) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return nil
		case <-tick.C:
			if err := log.Write(worklog.Beat); err != nil {
				return err
			}
		}
	}
}

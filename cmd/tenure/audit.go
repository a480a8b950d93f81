package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// audited is one line of an audit.
type audited struct {
	Time     time.Time `json:"time"`
	Action   string    `json:"action"`
	Outcome  string    `json:"outcome"`
	Election string    `json:"election"`
	Holder   string    `json:"holder"`
	Token    int64     `json:"token"`
	Attempt  string    `json:"attempt"`
	By       string    `json:"by"`
	Reason   string    `json:"reason"`
	Error    string    `json:"error,omitempty"`
}

// as is the entry with an outcome, now.
func (e audited) as(outcome string, err error) audited {
	e.Time, e.Outcome, e.Error = time.Now().UTC(), outcome, ""
	if err != nil {
		e.Error = err.Error()
	}
	return e
}

// print writes the entry for people or as JSON.
func (e audited) print(w io.Writer, asJSON bool) error { //nolint:revive // asJSON: as the user chose
	if asJSON {
		return encodeAll(w, []audited{e})
	}
	_, err := fmt.Fprintf(w, "%s  %s  election=%s holder=%s token=%d by=%s reason=%s outcome=%s\n", e.Time.Format(time.RFC3339), e.Action,
		shown(e.Election), shown(e.Holder), e.Token, shown(e.By), shown(e.Reason), shown(e.Outcome))
	return err
}

// trail is the file of an audit. The zero trail keeps nothing.
type trail struct{ file *os.File }

// openAudit opens the file for appending, for its user alone if it is new.
func openAudit(path string) (trail, error) {
	if path == "" {
		return trail{}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return trail{}, exit(exitOutput, "the audit file can't be opened, so nothing was done: %w", err)
	}
	return trail{f}, nil
}

// add appends an entry and waits until it is on disk.
func (t trail) add(e audited) error {
	if t.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = t.file.Write(append(line, '\n')) // one write: lines of two processes don't mix
	}
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		return exit(exitOutput, "the audit file can't be written: %w", err)
	}
	return nil
}

func (t trail) close() {
	if t.file != nil {
		_ = t.file.Close() // what counts was synced
	}
}

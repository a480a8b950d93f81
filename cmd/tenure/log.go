package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// logger writes to standard error what has at least the given level: text for people, or JSON with --json.
func (a *app) logger(level slog.Level) *slog.Logger {
	if a.verbose {
		level = slog.LevelDebug
	}
	if a.json {
		return slog.New(slog.NewJSONHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(&plainHandler{w: a.stderr, level: level, mu: new(sync.Mutex)})
}

// plainHandler writes lines as commands do: "tenure: warning: the store does not answer error=…".
type plainHandler struct {
	w     io.Writer
	level slog.Level
	attrs []slog.Attr
	mu    *sync.Mutex
}

// Enabled implements slog.Handler.
func (h *plainHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle implements slog.Handler. Below warnings it tells the time too: such lines are read to find out what took how long.
func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("tenure: ")
	switch {
	case r.Level == slog.LevelWarn:
		b.WriteString("warning: ")
	case r.Level < slog.LevelWarn:
		b.WriteString(r.Time.Format("15:04:05.000 "))
	}
	b.WriteString(r.Message)
	for _, attr := range h.attrs {
		fmt.Fprintf(&b, " %s=%s", attr.Key, shown(attr.Value.String()))
	}
	r.Attrs(func(attr slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%s", attr.Key, shown(attr.Value.String()))
		return true
	})
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}

// WithAttrs implements slog.Handler.
func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	more := *h
	more.attrs = append(slices.Clip(h.attrs), attrs...)
	return &more
}

// WithGroup implements slog.Handler. Nobody here uses groups.
func (h *plainHandler) WithGroup(string) slog.Handler { return h }

// Command mutants seeds mistakes into the state machine of production, one at a time, and hunts for each with the simulation: what it can't find there, it wouldn't find in a change either.
//
//	mutants                           all mistakes, several hunts each, and the table
//	mutants -write FILE               the same, and the table is put into FILE
//	mutants -third 1 -hunts 1         a third of the mistakes, a hunt each
//	mutants -only 'lost record'       those whose name contains this
//
// It runs in the root of the module. It exits with status 1 if a mistake is not caught or can't be seeded any more, or if something is found where no mistake is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
)

type settings struct {
	hunts, seeds, control, third int
	first                        uint64
	only, write                  string
}

func main() {
	var s settings
	flag.IntVar(&s.hunts, "hunts", 5, "how many hunts for each mistake, each from another seed on")
	flag.IntVar(&s.seeds, "seeds", 5000, "how many seeds a hunt may take")
	flag.IntVar(&s.control, "control", 1000, "how many seeds to run without a mistake")
	flag.IntVar(&s.third, "third", 0, "1, 2 or 3: that third of the mistakes; 4: each day another; 0: all")
	flag.Uint64Var(&s.first, "first", 1, "the first hunt's first seed; 0: today's")
	flag.StringVar(&s.only, "only", "", "only mistakes whose name contains this")
	flag.StringVar(&s.write, "write", "", "the file to put the table into")
	flag.Parse()
	day := int(time.Now().Unix() / (24 * 60 * 60))
	if s.first == 0 {
		s.first = uint64(day) * 100 * apart
	}
	if s.third > 3 {
		s.third = 1 + day%3
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, s settings) error {
	list := chosen(s)
	if len(list) == 0 {
		return fmt.Errorf("no mistake has %q in its name", s.only)
	}
	if s.write != "" && len(list) < len(all()) {
		return errors.New("only all mistakes together make the table of the docs")
	}
	if err := control(ctx, out, s); err != nil {
		return err
	}
	var catches []catch
	var errs []error
	for i, m := range list {
		start := time.Now()
		c, err := try(ctx, m, s)
		if err != nil {
			fmt.Fprintf(out, "%2d/%d %s: %v\n", i+1, len(list), m.name, err)
			errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
			continue
		}
		fmt.Fprintf(out, "%2d/%d %s: %s, seeds %v, %v\n", i+1, len(list), m.name, strings.Join(c.by, ", "), c.seeds, time.Since(start).Round(100*time.Millisecond))
		catches = append(catches, c)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	text := summary(catches, s) + "\n" + table(catches)
	fmt.Fprint(out, "\n", text)
	if s.write != "" {
		return write(s.write, text)
	}
	return nil
}

func chosen(s settings) []mutant {
	list := all()
	if s.third > 0 {
		list = third(list, s.third-1)
	}
	var matching []mutant
	for _, m := range list {
		if strings.Contains(m.name, s.only) {
			matching = append(matching, m)
		}
	}
	return matching
}

// try seeds one mistake and hunts for it.
func try(ctx context.Context, m mutant, s settings) (catch, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return catch{}, err
	}
	defer os.RemoveAll(dir)
	program, err := build(ctx, dir, &m)
	if err != nil {
		return catch{}, err
	}
	return hunts(ctx, program, m, s)
}

// control hunts where no mistake is.
func control(ctx context.Context, out io.Writer, s settings) error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(ctx, dir, nil)
	if err != nil {
		return err
	}
	n, invariant, err := hunt(ctx, program, "", s.first, s.control)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("without any mistake, %s is violated after %d seeds from %d on", invariant, n, s.first)
	}
	fmt.Fprintf(out, "without a mistake: nothing in %d seeds\n", s.control)
	return nil
}

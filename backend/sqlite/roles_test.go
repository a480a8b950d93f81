package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/backend/sqlite"
)

// playCandidate acquires an election (arguments: path, election, TTL) and then does what it is told, a word a line: renew, release.
func playCandidate(args []string) error {
	ctx := context.Background()
	ttl, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, args[0], sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	l, err := s.Acquire(ctx, claim(args[1], fmt.Sprint("process ", os.Getpid()), ttl))
	if err != nil {
		return err
	}
	fmt.Println("token", l.Token)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "renew":
			_, err = s.Renew(ctx, l)
		case "release":
			err = s.Release(ctx, l, backend.Handover{})
		}
		fmt.Println(in.Text(), backend.ClassOf(err))
	}
	return nil
}

// playLock takes the file's write lock (arguments: path, a statement), runs the statement and holds the lock until it is told something; then it rolls back.
func playLock(args []string) error {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:"+args[0]+"?_txlock=immediate&_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, args[1]); err != nil {
		return err
	}
	fmt.Println("locked")
	bufio.NewScanner(os.Stdin).Scan()
	err = tx.Rollback()
	fmt.Println("unlocked")
	return err
}

// playOpen opens the file (argument: path) when it is told to.
func playOpen(args []string) error {
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
	s, err := sqlite.Open(context.Background(), args[0], sqlite.Options{})
	if err != nil {
		return err
	}
	fmt.Println("open")
	return s.Close()
}

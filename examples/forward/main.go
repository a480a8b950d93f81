// Forward shows servers of which each can be asked, and the leader answers: the others forward to it.
//
//	go run ./examples/forward
//
// Three servers live in one process here. With a store that all reach, in TENURE_STORE, they could as well be three: each needs what newServer does, and an address that the others can reach.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/tenure-go/tenure/backend"
	_ "github.com/tenure-go/tenure/backend/all"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	url := os.Getenv("TENURE_STORE")
	if url == "" {
		url = "memory:forward"
	}
	if err := run(ctx, url, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts three servers, asks each of them, stops the one that answered, and asks the others.
func run(ctx context.Context, url string, out io.Writer) error {
	store, err := backend.Open(ctx, url)
	if err != nil {
		return err
	}
	defer store.Close()
	servers := map[string]*server{}
	for _, name := range []string{"one", "two", "three"} {
		s, err := newServer(ctx, store, name)
		if err != nil {
			return err
		}
		defer s.stop()
		servers[name] = s
	}
	leader, err := askAll(ctx, servers, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s stops\n", leader)
	servers[leader].stop()
	delete(servers, leader)
	_, err = askAll(ctx, servers, out)
	return err
}

// askAll asks each server for the next order, and returns the name of the one that gave the last answer.
func askAll(ctx context.Context, servers map[string]*server, out io.Writer) (leader string, err error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for name, s := range servers {
		answer, err := ask(ctx, client, s.address+"/order")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(out, "asked %s: %s\n", name, answer)
		if _, err := fmt.Sscanf(answer, "%s", &leader); err != nil {
			return "", err
		}
	}
	return leader, nil
}

// ask repeats a request for as long as it is answered with 503: it was not carried out, and can be a little later.
func ask(ctx context.Context, client *http.Client, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
		if err != nil {
			return "", err
		}
		response, err := client.Do(r)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		switch {
		case err != nil:
			return "", err
		case response.StatusCode == http.StatusOK:
			return string(body), nil
		case response.StatusCode != http.StatusServiceUnavailable:
			return "", fmt.Errorf("%s: %s", response.Status, body)
		}
		select {
		case <-time.After(50 * time.Millisecond): // a program that is less impatient waits as long as Retry-After says
		case <-ctx.Done():
			return "", errors.Join(context.Cause(ctx), fmt.Errorf("last answer: %s", body))
		}
	}
}

// listen opens a port of this machine.
func listen(ctx context.Context) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
}

package testenv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// redis sends one command to a Redis server, after the password where the server wants one, and returns the reply:
// a string, an int64, a []any or nil.
func (at target) redis(ctx context.Context, password string, args ...string) (any, error) {
	c, err := at.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	commands := [][]string{args}
	if password != "" {
		commands = [][]string{{"AUTH", password}, args}
	}
	var reply any
	for _, command := range commands {
		if _, err := io.WriteString(c, resp(command)); err != nil {
			return nil, err
		}
		if reply, err = readReply(r); err != nil {
			return nil, fmt.Errorf("%s: %w", command[0], err)
		}
	}
	return reply, nil
}

// resp is a command as Redis wants it on the wire.
func resp(args []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

func readReply(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line for a reply")
	}
	text := line[1:]
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return nil, errors.New(text)
	case ':':
		return strconv.ParseInt(text, 10, 64)
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, nil //nolint:nilnil // Redis's own nil
	case line[0] == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return string(b[:n]), err
	case line[0] == '*':
		return readArray(r, n)
	}
	return nil, fmt.Errorf("%q is no reply", line)
}

func readArray(r *bufio.Reader, n int) (any, error) {
	all := make([]any, n)
	for i := range all {
		var err error
		if all[i], err = readReply(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fields reads a flat array of names and values.
func fields(reply any) map[string]string {
	all, _ := reply.([]any)
	found := map[string]string{}
	for i := 0; i+1 < len(all); i += 2 {
		found[fmt.Sprint(all[i])] = fmt.Sprint(all[i+1])
	}
	return found
}

// info reads lines of the form name:value, as INFO and CLUSTER INFO give them.
func info(reply any) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			found[name] = value
		}
	}
	return found
}

package guardian

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// protocol guards against a binary that was replaced under a running wrapper,
// where the running one can't be executed again.
const protocol = 1

// hello is the first line on the control pipe. Bytes rather than strings, since
// arguments need not be UTF-8 and JSON strings must be.
type hello struct {
	Protocol   int      `json:"protocol"`
	Args       [][]byte `json:"args"`
	Env        [][]byte `json:"env"`
	Soft, Hard BootTime
}

func (h hello) line() ([]byte, error) {
	b, err := json.Marshal(h)
	return append(b, '\n'), err
}

// order is a line from the wrapper to the guardian.
type order struct {
	verb       string // deadline, signal or stop
	soft, hard BootTime
	signal     syscall.Signal
	grace      time.Duration
}

func (o order) line() string {
	switch o.verb {
	case "deadline":
		return fmt.Sprintf("deadline %d %d\n", o.soft, o.hard)
	case "signal":
		return fmt.Sprintf("signal %d\n", o.signal)
	default:
		return fmt.Sprintf("stop %d\n", o.grace)
	}
}

func parseOrder(line string) (o order, err error) {
	o.verb, line, _ = strings.Cut(strings.TrimSpace(line), " ")
	switch o.verb {
	case "deadline":
		_, err = fmt.Sscanf(line, "%d %d", &o.soft, &o.hard)
	case "signal":
		_, err = fmt.Sscanf(line, "%d", &o.signal)
	case "stop":
		_, err = fmt.Sscanf(line, "%d", &o.grace)
	default:
		err = fmt.Errorf("guardian: unknown order %q", o.verb)
	}
	return o, err
}

// report is a line from the guardian to the wrapper.
type report struct {
	verb   string // started, failed or ended
	pid    int
	code   int
	signal syscall.Signal
	reason Reason
	msg    string
}

func (r report) line() string {
	switch r.verb {
	case "started":
		return fmt.Sprintf("started %d\n", r.pid)
	case "failed":
		return fmt.Sprintf("failed %d %q\n", r.code, r.msg)
	default:
		return fmt.Sprintf("ended %d %d %s\n", r.code, r.signal, r.reason)
	}
}

func parseReport(line string) (r report, err error) {
	r.verb, line, _ = strings.Cut(strings.TrimSpace(line), " ")
	switch r.verb {
	case "started":
		r.pid, err = strconv.Atoi(line)
	case "failed":
		_, err = fmt.Sscanf(line, "%d %q", &r.code, &r.msg)
	case "ended":
		_, err = fmt.Sscanf(line, "%d %d %s", &r.code, &r.signal, &r.reason)
	default:
		err = fmt.Errorf("guardian: unknown report %q", r.verb)
	}
	return r, err
}

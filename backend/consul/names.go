package consul

import (
	"net/url"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

// names makes keys. Each election has one key in each of three folders: a blocking query of one folder returns when something of that kind has changed. The names
// are escaped, so that no key is a folder of another.
type names struct{ prefix string }

func (n names) folder(kind string) string { return backend.Escape(n.prefix) + "/" + kind + "/" }

// leaders holds the records of who leads. They change with a grant, a release or the loss of a session, and never with a renewal.
func (n names) leaders() string { return n.folder("leader") }

// beats holds the signs of life: each grant and each renewal changes one.
func (n names) beats() string { return n.folder("beat") }

// counters holds the tokens.
func (n names) counters() string { return n.folder("counter") }

func (n names) leader(election string) string  { return n.leaders() + backend.Escape(election) }
func (n names) beat(election string) string    { return n.beats() + backend.Escape(election) }
func (n names) counter(election string) string { return n.counters() + backend.Escape(election) }

// floor is the prefix's floor: a lower bound for the tokens of elections without a counter.
func (n names) floor() string { return backend.Escape(n.prefix) + "/floor" }

// list holds the roster of an election.
func (n names) list(election string) string {
	return n.folder("roster") + backend.Escape(election) + "/"
}

func (n names) listing(election, candidate string) string {
	return n.list(election) + backend.Escape(candidate)
}

// election is the name to which a key of leaders or counters belongs; ok is false for others' keys.
func election(key string) (name string, ok bool) {
	part := last(key)
	name, err := url.PathUnescape(part)
	return name, err == nil && backend.Escape(name) == part && backend.CheckName("election", name) == nil
}

// all are an election's keys, in the order in which views read them.
func (n names) all(election string) []string {
	return []string{n.leader(election), n.beat(election), n.counter(election)}
}

// last is a key's name within its folder: the escaped election.
func last(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

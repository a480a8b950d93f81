package redis

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

// names makes keys and channels. All that belongs to one election has one hash tag, so that it lies on one node of a cluster; the escaped parts hold no brace or
// colon that could end the tag early or make two elections one. The database's number is part of it because channels, unlike keys, are shared by all databases.
type names struct {
	prefix string
	db     int
}

func (n names) tag(election string) string {
	return "{" + backend.Escape(n.prefix) + ":" + strconv.Itoa(n.db) + ":" + backend.Escape(election) + "}"
}

// key is where the election's record lies.
func (n names) key(election string) string { return n.tag(election) + ":lease" }

// roster is where the list of its candidates lies.
func (n names) roster(election string) string { return n.tag(election) + ":roster" }

// all is a pattern that keys of records match.
func (n names) all() string { return strings.TrimSuffix(n.tag(""), "}") + "*}:lease" }

// election is whose record lies at a key, if one may.
func (n names) election(key string) (name string, ok bool) {
	escaped, before := strings.CutPrefix(key, strings.TrimSuffix(n.tag(""), "}"))
	escaped, after := strings.CutSuffix(escaped, "}:lease")
	name, err := url.PathUnescape(escaped)
	return name, before && after && err == nil && backend.CheckName("election", name) == nil && backend.Escape(name) == escaped
}

// channel is where its changes are published.
func (n names) channel(election string) string { return n.tag(election) + ":changes" }

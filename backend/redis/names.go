package redis

import (
	"strconv"

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

// channel is where its changes are published.
func (n names) channel(election string) string { return n.tag(election) + ":changes" }

package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// maxSkew is how far the server's clock may be from ours before a warning: clocks that are kept by NTP stay far below.
const maxSkew = time.Second

// parseInfo reads the reply of INFO.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// judge finds what endangers leases in a server's INFO. refused is set when it can't keep leases at all.
func judge(info map[string]string) (found []string, refused error) {
	if v := info["redis_version"]; olderThan(v, 6, 2) {
		found = append(found, fmt.Sprintf("The server is Redis %s; the oldest that is supported is 6.2: upgrade it.", v))
	}
	switch info["role"] {
	case "active-replica":
		refused = fmt.Errorf("%w: %w", backend.ErrInvalid, errMultiMaster)
	case "slave":
		found = append(found, "The server is a replica and refuses writes: use the address of the master, or redis+sentinel.")
	}
	if policy := info["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys-") && info["maxmemory"] != "0" {
		found = append(found, fmt.Sprintf("The eviction policy %s may remove live leases: set maxmemory-policy to noeviction or to a volatile one.", policy))
	}
	if info["aof_enabled"] == "0" {
		found = append(found, "A restart of the server may lose live leases: set appendonly yes and appendfsync always.")
	}
	return found, refused
}

// olderThan compares a version's first two numbers. What is no version isn't old.
func olderThan(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (a < major || a == major && b < minor)
}

// clockWarning compares the server's clock with ours, which was read before and after.
func clockWarning(theirs, before, after time.Time) []string {
	skew := max(before.Sub(theirs), theirs.Sub(after))
	if skew <= maxSkew {
		return nil
	}
	return []string{fmt.Sprintf("The clocks of the server and of this host are %v apart: let both follow NTP, since tokens rest on the server's clock when data is lost.",
		skew.Round(time.Millisecond))}
}

// clientWarnings looks at the settings of a client.
func clientWarnings(client goredis.UniversalClient) []string {
	var contexts bool
	var retries, pool int
	switch c := client.(type) {
	case *goredis.Client:
		o := c.Options()
		contexts, retries, pool = o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize
	case *goredis.ClusterClient:
		o := c.Options()
		contexts, retries, pool = o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize
	default:
		return nil
	}
	var found []string
	if !contexts {
		found = append(found, "The client ignores the deadlines of contexts, so that a call may hold a connection for its whole ReadTimeout: set ContextTimeoutEnabled to true.")
	}
	if retries > 0 {
		found = append(found, fmt.Sprintf("The client repeats failed calls %d times on its own, behind the elector's timing: set MaxRetries to -1.", retries))
	}
	if pool < 2 {
		found = append(found, "The client's pool has a single connection, so that a renewal waits behind every other call: set PoolSize to at least 2, better give tenure a client of its own.")
	}
	return found
}

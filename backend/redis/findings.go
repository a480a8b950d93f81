package redis

import (
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

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

// judge finds what endangers leases in a server's INFO. refused is set when it can't keep leases at all. acks is how many replicas must acknowledge.
func judge(info map[string]string, acks int) (found []string, refused error) {
	if v := info["redis_version"]; olderThan(v, 6, 2) {
		found = append(found, fmt.Sprintf("The server is Redis %s; the oldest that is supported is 6.2: upgrade it.", v))
	}
	switch info["role"] {
	case "active-replica":
		refused = fmt.Errorf("%w: %w", backend.ErrInvalid, errMultiMaster)
	case "slave":
		found = append(found, "The server is a replica and refuses writes: use the address of the master, or redis+sentinel.")
	case "master":
		found = append(found, judgeReplicas(info, acks)...)
	}
	if policy := info["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys-") && info["maxmemory"] != "0" {
		found = append(found, fmt.Sprintf("The eviction policy %s may remove live leases: set maxmemory-policy to noeviction or to a volatile one.", policy))
	}
	switch {
	case info["aof_enabled"] == "0":
		found = append(found, "A restart of the server may lose live leases: set appendonly yes and appendfsync always.")
	case info["aof_last_write_status"] == "err":
		found = append(found, "The server can't write its append-only file, so that it refuses writes or loses them: look at its disk.")
	}
	return found, refused
}

// judgeReplicas looks at what becomes of leases when a replica is promoted. A master tells how many replicas are good only where it demands some.
func judgeReplicas(info map[string]string, acks int) []string {
	replicas, err := strconv.Atoi(info["connected_slaves"])
	_, demands := info["min_slaves_good_slaves"]
	switch {
	case err != nil:
		return nil
	case acks > replicas:
		return []string{fmt.Sprintf("The store waits for %d replicas and the server has %d, so that no lease can be granted: add replicas, or lower wait.", acks, replicas)}
	case replicas > 0 && acks == 0 && !demands:
		return []string{"A master that is cut off from its replicas goes on granting leases while one of them is promoted: set min-replicas-to-write 1 and " +
			"min-replicas-max-lag below the TTL, or wait=1."}
	}
	return nil
}

// judgeConfig finds what INFO doesn't tell, where the user may read the configuration.
func judgeConfig(config map[string]string) (found []string, refused error) {
	if config["active-replica"] == "yes" || config["active-replica"] == "true" {
		refused = fmt.Errorf("%w: %w", backend.ErrInvalid, errMultiMaster)
	}
	if fsync := config["appendfsync"]; config["appendonly"] == "yes" && fsync != "always" {
		found = append(found, fmt.Sprintf("A crash of the server's host may lose the last leases, with appendfsync %s: set appendfsync always.", fsync))
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

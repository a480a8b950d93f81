package postgres

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// settingsQuery reads what can endanger leases. $1 schema.
var settingsQuery = expand(`SELECT pg_backend_pid(), {us clock_timestamp()}, current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery(),
	current_setting('fsync'), current_setting('server_encoding'), coalesce(current_setting('idle_session_timeout', true), '0'),
	current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication),
	coalesce((SELECT c.relpersistence FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'tenure_lease'), 'p'),
	coalesce((SELECT has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = 'tenure_lease'), true)`)

// settings is what the server tells.
type settings struct {
	pid                   uint32
	now                   time.Time
	version               int
	name                  string
	replica, unsafe       bool
	encoding, idle        string
	synchronous, replicas bool
	unlogged, powerless   bool
}

func parseSettings(r rows) (settings, error) {
	if len(r) != 1 || len(r[0]) != 12 {
		return settings{}, fmt.Errorf("the server's settings have %d rows", len(r))
	}
	c := r[0]
	pid, err1 := strconv.ParseUint(c[0], 10, 32)
	now, err2 := strconv.ParseInt(c[1], 10, 64)
	version, err3 := strconv.Atoi(c[2])
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return settings{}, err
		}
	}
	return settings{
		pid: uint32(pid), now: time.UnixMicro(now), version: version, name: c[3], replica: c[4] == "t", unsafe: c[5] == "off",
		encoding: c[6], idle: c[7], synchronous: c[8] != "", replicas: c[9] != "0", unlogged: c[10] == "u", powerless: c[11] == "f",
	}, nil
}

// judge finds what endangers leases.
func (v settings) judge() (found []string) {
	warn := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if v.version < 140000 {
		warn("The server is Postgres %s; the oldest that is supported is 14: upgrade it.", v.name)
	}
	if v.replica {
		warn("The server is a replica and refuses writes: give the address of the primary, or all addresses and target_session_attrs=read-write.")
	}
	if v.unsafe {
		warn("A crash of the server's host may lose live leases: set fsync to on.")
	}
	if v.encoding != "UTF8" {
		warn("The database's encoding is %s, in which not every name can be kept: use a database in UTF8.", v.encoding)
	}
	if v.idle != "0" {
		warn("The server ends connections that are idle for %s, also those which wait for wake-ups: set idle_session_timeout to 0 for this role.", v.idle)
	}
	if v.replicas && !v.synchronous {
		warn("The server's replicas are asynchronous, so that one which is promoted may lack live leases: name those that may be promoted in synchronous_standby_names, " +
			"or guard what leaders write by their tokens.")
	}
	if v.unlogged {
		warn("The table tenure_lease is unlogged, so that a crash of the server empties it: ALTER TABLE tenure_lease SET LOGGED.")
	}
	if v.powerless { // a follower, which only reads, doesn't find out otherwise
		warn("This role can't lead, since it may not INSERT and UPDATE tenure_lease: deploy/policies/postgres.sql has the grants that a role needs.")
	}
	return found
}

// plainWarning looks whether a connection to another host is encrypted.
func plainWarning(c net.Conn) []string {
	addr, ok := c.RemoteAddr().(*net.TCPAddr)
	if _, secure := c.(*tls.Conn); secure || !ok || addr.IP.IsLoopback() {
		return nil
	}
	return []string{"The connection to the server is not encrypted: set sslmode=verify-full, and sslrootcert where the system doesn't know who has signed the server's certificate."}
}

// poolWarnings looks at the settings of a caller's pool.
func poolWarnings(c *pgxpool.Config) []string {
	if c.MaxConns < 2 {
		return []string{"The pool has a single connection, so that a renewal waits behind every other call: set MaxConns to at least 2, better give tenure a pool of its own."}
	}
	return nil
}

// Package consul keeps leases in the key-value store of Consul, under a session.
//
//	store, err := backend.Open(ctx, "consul://localhost:8500?token=…&prefix=billing")
//
// or, with a client of your own:
//
//	store, err := consul.New(client, consul.Options{Prefix: "billing"})
//
// # Guarantees
//
// All of the contract, with TTLs from 1 s on servers with default settings. Leases don't end with the session, which by default takes 20 s or more, twice that after a
// change of the servers' leader: a holder beats, and a challenger that has seen no beat for the holder's TTL takes over, in one transaction which the servers refuse if there
// was a beat meanwhile. So neither the life of sessions, nor their lock-delays, nor a failure of the agent or of the servers' leader ends a lease early or keeps a dead one. Only where another tool's session has
// locked a leader key does its lock-delay come first.
//
// A follower that watches knows of each beat soon, and takes over one TTL after the last. One that looks for the first time, as programs do that try once, waits for up to one TTL.
//
// A write to servers without a leader, an error 500, 429 or a lost connection leaves open whether it was applied. Store.Fence guards writes of the leader's to
// the same servers.
//
// # Storage
//
// Three keys for each election, with prefix and name percent-escaped:
//
//	prefix/leader/name   who leads, locked by the session of its process; changes with a grant, a release, or the loss of the session
//	prefix/beat/name     changes with each grant and renewal
//	prefix/counter/name  the highest token
//
// Besides:
//
//	prefix/roster/name/candidate  an entry of the election's roster, locked by the session of the process that listed it, and gone with it
//	prefix/floor                  the highest counter of all elections that were forgotten, and how many; there after the first
//
// An election's keys stay after a release, and nothing but Forget may remove them, all at once. Each knows the last token, so that one is enough. A leader key that somebody deletes ends the term at the
// next renewal, and keeps the election closed for its TTL, as long as one of the others is there. A beat key that somebody deletes comes again with the next renewal; until then the lease has the TTL of its grant.
//
// An election without a counter is granted its first token above the floor, by a transaction which compares that too: so a claim from before Forget can't come true after it. The floor must never go.
//
// Values that are not ours are refused and never overwritten.
//
// Each process that leads has one session, without checks, with behaviour release and a lock-delay of 1 ms. A session that is lost while its lease lives is replaced.
//
// Rosters have another session for each process, of 10 s and with behaviour delete, as long as there are entries. Consul can't end a key by the clock, so the store that has listed an entry removes it
// when its time is up, before it renews the session, and doesn't renew it where it can't. So entries outlive their time by a third of the session's, and those of a process that is gone by its whole,
// which may be 20 s; more after a change of the servers' leader, which begins it anew. A session that is lost takes all entries of its process along, until they are enlisted again.
//
// A store opened by URL has up to 8 connections of its own to each host, whatever the number of elections.
//
// # Time
//
// Leases and reservations are timed by the challenger's monotonic clock, from when it has seen the last change. No wall clock decides, and no timer of the servers. A token is
// the counter plus one, but above the claim's floor.
//
// # Permissions
//
// A policy for the prefix "billing", see deploy/policies/consul.hcl:
//
//	key_prefix "billing/" { policy = "write" }
//	session_prefix ""     { policy = "write" }  # the rule names nodes: those of the agents in use
//
//	agent_prefix ""       { policy = "read" }   # only for Warnings: the agent's version and settings
//
// Observers need policy = "read" on the prefix alone.
//
// # URLs
//
//	consul://host:8500          an agent, or a server; by default on port 8500
//	consuls://host:8501         the same with TLS; by default on port 8501
//	consul://host1,host2,host3  servers without agents: the next one is used when one fails
//
// Parameters:
//
//	token    the ACL token; without it there is none, whatever the environment says
//	prefix   parts elections of those who share the servers; default tenure
//	timeout  for dialling, for calls without a deadline, for the first answer to a watch, and for what the store does on its own; default 2s
//	strict   1: Open asks the servers, and fails when they are away, when the token may not read, write and make sessions, or when Warnings tells of a danger
//	cacert   consuls only: a file with the certificates to trust; default the system's
//	cert     consuls only: a file with the client's own certificate
//	key      consuls only: and its key
//
// The host is dialled when it is first needed: Open succeeds while it is away. Proxies and Consul's variables in the environment are not used.
//
// # Limits
//
// TTLs from 1 s to 24 h, in steps of 1 ms. Consul 1.14 or later. Each renewal is a write to the disks of a majority of servers; one request renews up to 64 leases. A follower costs
// about four requests per TTL for all its elections together, and seven where many others lead under its prefix, most of them returns of a blocking query with the beats there: give elections
// that have nothing to do with each other different prefixes when there are many. Another query returns twice a minute, and with each grant or release under the prefix.
//
// Elections reads the names of all leader and counter keys for each page. When a store is closed its entries are listed for 10 s or 20 s at most, whatever their time.
//
// A server that is set to a session_ttl_min above 30 s refuses the session, and with it every grant; above 10 s it refuses rosters. Servers in development mode (-dev) lose everything when they end:
// leases overlap then for up to a TTL. Warnings tell of both, but for rosters, and of an agent that is too old, where the token may read the agent.
//
// After a snapshot was restored the counter is an old one, and so are the records: tokens grow on above the highest that living candidates have seen, and not above those that nobody remembers.
package consul

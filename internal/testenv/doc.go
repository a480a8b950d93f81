// Package testenv gives a test a real server: Redis, etcd, Postgres or Consul.
//
//	srv := testenv.Redis(t)
//	store := open(srv.URL())
//
// # Where the server comes from
//
// The first of these that is there:
//
//  1. the address in an environment variable: TENURE_TEST_REDIS_URL, TENURE_TEST_ETCD_URL, TENURE_TEST_POSTGRES_URL,
//     TENURE_TEST_CONSUL_URL;
//  2. a server binary of this machine, started on a free loopback port in a temporary folder (make servers installs or
//     builds the binaries);
//  3. a container, when a container engine answers.
//
// [Containers] goes to the third at once, for tests of the images.
//
// Where none is there the test is skipped, and a notice says what to do: on standard error, and in the file that
// TENURE_TEST_NOTICES names, since go test hides the output of packages that pass. With CI=true in the environment a
// missing server is a failure instead, unless TENURE_TEST_KINDS is set and doesn't name the kind. Clusters, replicas and poolers are started from binaries only.
//
// # Faults
//
// A server that was started from a binary can be frozen, thawed, killed and started again. A test that needs this asks for
// Options.Own, and never gets a server that others use.
//
// # Clusters
//
// RedisSentinel, RedisCluster, EtcdCluster and ConsulCluster start several servers that work as one, PostgresReplica and
// PgBouncer a server beside a Postgres. Each member is a Server with faults of its own; Settle waits until the others have
// noticed and work together.
//
// # Clean-up
//
// Servers end with their test, by process id. On Linux the kernel kills them when the test process dies, however it dies.
//
// # Passwords
//
// Every server asks for the password in TENURE_CANARY (or a default), so that each URL a test uses carries it and a search
// of all output shows whether the project ever prints one. It is handed over in files of mode 0600, never in arguments.
// etcd is the exception: its URL carries the password, but the server asks for it only with Options.Auth.
//
// # TLS
//
// NewAuthority makes certificates, good and broken ones. With Options.TLS a server speaks TLS only; the test adds the
// authority's file to the URL, as cacert or, for Postgres, as sslrootcert.
package testenv

// Package consul keeps leases in Consul.
package consul

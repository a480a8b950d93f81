// Package all registers the URL schemes of every store, for programs that take the store from their configuration:
//
//	import _ "github.com/tenure-go/tenure/backend/all"
package all

import (
	_ "github.com/tenure-go/tenure/backend/consul"   // consul: consuls:
	_ "github.com/tenure-go/tenure/backend/etcd"     // etcd: etcds:
	_ "github.com/tenure-go/tenure/backend/memory"   // memory:
	_ "github.com/tenure-go/tenure/backend/postgres" // postgres: postgresql:
	_ "github.com/tenure-go/tenure/backend/redis"    // redis: rediss: redis+sentinel: redis+cluster:
	_ "github.com/tenure-go/tenure/backend/sqlite"   // sqlite:
)

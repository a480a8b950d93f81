//go:build !unix

package postgres

import "net"

// spoken looks for what the server has said on an idle connection; it can't here.
func spoken(net.Conn) bool { return false }

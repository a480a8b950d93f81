package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// shortBusy is SQLite's own wait for a lock, in milliseconds. SQLite sleeps longer from try to try, so a writer that waits for long would always come too late; we begin
// its waits anew instead, see retryWhile.
const shortBusy = "30"

// pool returns a pool of at most n connections to the session's file.
func (ss *session) pool(real string, n int, params string) (*sql.DB, error) {
	path := filepath.ToSlash(real)
	if !strings.HasPrefix(path, "/") { // C:/folder/file
		path = "/" + path
	}
	// mode=rw: SQLite must not make the file, it would do so for everybody to read.
	dsn := "file://" + (&url.URL{Path: path}).EscapedPath() + "?mode=rw&_pragma=busy_timeout(" + shortBusy + ")&_pragma=fullfsync(1)&" + params
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{Connector: c, session: ss})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// connector makes sure that all connections of a session are to its file, whatever the path leads to by now.
type connector struct {
	driver.Connector
	session *session
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err == nil && !c.session.files[0].intact() {
		_ = conn.Close()
		return nil, errReplaced
	}
	return conn, err
}

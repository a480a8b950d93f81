package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/netdial"
)

// libpqParams are URL parameters with the meaning that they have in every client of Postgres.
var libpqParams = []string{
	"sslmode", "sslrootcert", "sslcert", "sslkey", "sslsni", "sslnegotiation", "channel_binding", "target_session_attrs", "connect_timeout", "application_name", "host", "passfile",
}

func init() {
	own := []string{"prefix", "schema", "pool", "timeout", "expiry", "strict", "clockstep", "listen"}
	backend.Register(backend.Driver{Schemes: []string{"postgres", "postgresql"}, Params: append(own, libpqParams...), Open: open})
}

const (
	defaultPool = 4
	// firstLook bounds the look at the server in Open, which succeeds without it.
	firstLook = time.Second
)

// open makes a store with a pool of its own. It looks at a server that answers at once, to learn whether wake-ups will come through. One that is away doesn't keep a candidate from
// starting, unless strict asks for it.
func open(ctx context.Context, u *backend.URL) (backend.LeaseStore, error) {
	config, o, strict, err := parse(u)
	if err != nil {
		return nil, err
	}
	own := netdial.New(0)
	config.ConnConfig.DialFunc = own.Dial
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config) // the pool outlives the call
	if err != nil {
		return nil, err
	}
	s := newStore(pool, o)
	s.own = own
	if !strict {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, firstLook)
		defer cancel()
	}
	if err := s.firstLook(ctx); err != nil && strict {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// parse reads a URL.
func parse(u *backend.URL) (config *pgxpool.Config, o Options, strict bool, err error) {
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	o = Options{Prefix: u.Text("prefix", ""), Schema: u.Text("schema", ""), Expiry: expiry(u.Text("expiry", "store"))}
	o.ClockStep, err = u.Duration("clockstep", 0)
	keep(err)
	if o.Timeout, err = u.Duration("timeout", defaultTimeout); err == nil && o.Timeout < 10*time.Millisecond {
		err = fmt.Errorf("%w: URL parameter timeout=%v is too short; give at least 10ms", backend.ErrInvalid, o.Timeout)
	}
	keep(err)
	size, err := u.Int("pool", defaultPool, 2)
	keep(err)
	strict, err = u.Bool("strict")
	keep(err)
	listen, err := u.Bool("listen")
	keep(err)
	_, given := u.Params["listen"]
	o.NoListen = given && !listen
	o, err = o.complete()
	keep(err)
	config, err = poolConfig(u, o.Timeout, size)
	keep(err)
	return config, o, strict, errors.Join(errs...)
}

// expiry reads the URL parameter of that name; complete refuses what it doesn't know.
func expiry(text string) backend.Mode {
	if text == "store" {
		return backend.Native
	}
	return backend.Mode(text)
}

// poolConfig is for a small pool for lease traffic only, so that a heartbeat never waits behind other work.
func poolConfig(u *backend.URL, timeout time.Duration, size int) (*pgxpool.Config, error) {
	text, err := connString(u)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%w: the %s URL: %w", backend.ErrInvalid, u.Scheme, err)
	}
	c := config.ConnConfig
	if u.Password != "" {
		c.Password = u.Password
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = perHost(&c.Config, timeout)
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "tenure"
	}
	c.OnNotice = Notice
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.MaxConns = int32(size)
	// A spare connection stays ready, and none ends because it is idle: a renewal must not need a new one. A connection is asked for its health only when the server has
	// spoken unasked, most likely to hang up: to ask takes a round trip.
	config.MinIdleConns = 1
	config.MaxConnIdleTime = 365 * 24 * time.Hour
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return spoken(p.Conn.PgConn().Conn()) }
	return config, nil
}

// connString is the URL as the driver's keywords and values, without the password: the driver shows this text in its errors.
func connString(u *backend.URL) (string, error) {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	set := func(name, value string) {
		if value != "" {
			b.WriteString(name + "='" + quote.Replace(value) + "' ")
		}
	}
	hosts, ports := make([]string, len(u.Hosts)), make([]string, len(u.Hosts))
	for i, h := range u.Hosts {
		hosts[i], ports[i] = split(h)
	}
	set("host", strings.Join(hosts, ","))
	set("port", strings.Join(ports, ","))
	set("user", u.User)
	database := strings.TrimPrefix(u.Path, "/")
	if strings.Contains(database, "/") {
		return "", fmt.Errorf("%w: the path must be the name of a database; write %s://user:password@host/database, and special characters as %%XX", backend.ErrInvalid, u.Scheme)
	}
	set("dbname", database)
	for _, name := range libpqParams {
		if name == "host" && len(u.Hosts) > 0 && u.Text(name, "") != "" {
			return "", fmt.Errorf("%w: the URL names hosts twice, before the path and in the parameter host", backend.ErrInvalid)
		}
		set(name, u.Text(name, ""))
	}
	return b.String(), nil
}

// split parts a host from its port, by default 5432.
func split(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.Trim(host, "[]"), strconv.Itoa(5432)
}

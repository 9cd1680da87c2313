package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"gatewayd/state"
)

// Options are a store's settings; the zero value works.
type Options struct {
	// Namespace begins every key; "" means gatewayd.
	Namespace string
	// Timeout bounds one exchange with the server unless the caller's deadline
	// is earlier; 0 means 250 ms. Large values are several exchanges, or are
	// given the time that 16 MiB/s takes on top.
	Timeout time.Duration
	// Connections is the most that are open to one server; 0 means 16.
	Connections int
	// Failures is the number of failures of Facts and Write in a row after which
	// they fail at once; 0 means 5.
	Failures int
	// Pause is the time after which such a store is asked again; 0 means 500 ms.
	Pause time.Duration
	// TLS is used for rediss:// addresses; nil means the system's roots.
	TLS *tls.Config
}

// Store implements state.Store.
type Store struct {
	client    goredis.UniversalClient
	namespace string
	timeout   time.Duration
	circuit   *circuit
	lane      *lane
	close     func() error
}

var _ state.Store = (*Store)(nil)

// Open returns a store on the server at a URL:
//
//	redis://[USER:PASSWORD@]HOST[:PORT][/DB]       one server; rediss:// with TLS
//	unix://[USER:PASSWORD@]/PATH[?db=DB]           one server on a socket
//	redis://HOST:PORT,HOST:PORT                    a Cluster; with ?cluster=true one address will do
//	redis://HOST:PORT,...?master_name=NAME[&sentinel_username=U&sentinel_password=P]
//	                                               the primary that these Sentinels name
//
// With skip_verify=true certificates are not checked. It fails for a bad URL
// only: a server that is away now is found when it is back. Open turns off the
// log of the client library, for the process; its errors are returned.
func Open(address string, o Options) (*Store, error) {
	logging.Disable()
	if o.Namespace == "" {
		o.Namespace = "gatewayd"
	}
	if strings.ContainsAny(o.Namespace, "{}") {
		return nil, fmt.Errorf("redis namespace %q has braces; use a name without", o.Namespace)
	}
	if o.Timeout <= 0 {
		o.Timeout = 250 * time.Millisecond
	}
	if o.Connections <= 0 {
		o.Connections = 16
	}
	if o.Failures <= 0 {
		o.Failures = 5
	}
	if o.Pause <= 0 {
		o.Pause = 500 * time.Millisecond
	}
	settings, err := parse(address)
	if err != nil {
		return nil, err
	}
	limit(settings, o)
	s := &Store{
		client:    goredis.NewUniversalClient(settings),
		namespace: o.Namespace,
		timeout:   o.Timeout,
		circuit:   &circuit{limit: o.Failures, pause: o.Pause, now: time.Now},
		lane:      newLane(o.Connections),
	}
	s.close = sync.OnceValue(func() error {
		err := s.client.Close()
		s.lane.drain()
		return err
	})
	return s, nil
}

// Now returns the server's time; in a Cluster that of any of its servers.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.call(ctx, s.timeout, func(ctx context.Context) (err error) {
		now, err = s.client.Time(ctx).Result()
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("redis: read time: %w", err)
	}
	return now, nil
}

// Health says how the calls of this store went.
func (s *Store) Health() state.Health { return s.circuit.health() }

// Close closes the connections; calls under way fail. Later calls fail too.
func (s *Store) Close() error { return s.close() }

// key names a value of a pool.
func (s *Store) key(pool string, parts ...string) string {
	k := s.namespace + ":{" + url.QueryEscape(pool) + "}"
	for _, p := range parts {
		k += ":" + url.QueryEscape(p)
	}
	return k
}

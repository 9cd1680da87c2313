package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const form = "use redis://[USER:PASSWORD@]HOST[:PORT][,HOST:PORT...][/DB], rediss:// for TLS, or unix:///PATH"

// parse reads a URL. Errors never quote it: it may hold a password.
func parse(address string) (*goredis.UniversalOptions, error) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || !slices.Contains([]string{"redis", "rediss", "unix"}, scheme) {
		return nil, fmt.Errorf("redis url has no known scheme; %s", form)
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@') + 1
	user, password, err := credentials(strings.TrimSuffix(authority[:at], "@"))
	if err != nil || strings.Contains(path+query, "@") {
		return nil, fmt.Errorf("redis url has special characters in its user or password; write / as %%2F, @ as %%40; %s", form)
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("redis url: query: %w; %s", err, form)
	}
	own, err := take(q)
	if err != nil {
		return nil, err
	}
	hosts := strings.Split(authority[at:], ",")
	if slices.Contains(hosts, "") != (scheme == "unix") {
		return nil, fmt.Errorf("redis url lacks a host, or has one before a socket's path; %s", form)
	}

	o := &goredis.UniversalOptions{
		Username:         user,
		Password:         password,
		MasterName:       own.Get("master_name"),
		SentinelUsername: own.Get("sentinel_username"),
		SentinelPassword: own.Get("sentinel_password"),
		IsClusterMode:    own.Get("cluster") == "true",
	}
	for _, host := range hosts {
		one, err := goredis.ParseURL(scheme + "://" + host + path + "?" + q.Encode())
		if err != nil {
			return nil, fmt.Errorf("redis url: %w; %s", bare(err), form)
		}
		o.Addrs = append(o.Addrs, one.Addr)
		o.DB, o.TLSConfig = one.DB, one.TLSConfig
	}
	if o.DB != 0 && o.MasterName == "" && (o.IsClusterMode || len(o.Addrs) > 1) {
		return nil, fmt.Errorf("redis url names database %d, but a cluster has only database 0", o.DB)
	}
	return o, nil
}

func credentials(info string) (user, password string, err error) {
	user, password, _ = strings.Cut(info, ":")
	if user, err = url.PathUnescape(user); err != nil {
		return "", "", err
	}
	password, err = url.PathUnescape(password)
	return user, password, err
}

// take moves the parameters that the client's own parser does not know out of
// the query.
func take(q url.Values) (url.Values, error) {
	own := url.Values{}
	for name := range q {
		switch name {
		case "master_name", "sentinel_username", "sentinel_password", "cluster":
			own[name] = q[name]
			delete(q, name)
		case "db", "skip_verify":
		default:
			return nil, fmt.Errorf("redis url has an unknown parameter %q; use db, skip_verify, cluster, "+
				"master_name, sentinel_username or sentinel_password", name)
		}
	}
	return own, nil
}

// bare strips the URL from an error of package url.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// limit makes the client wait, retry and connect within bounds.
func limit(u *goredis.UniversalOptions, o Options) {
	const most = 10 * time.Second // contexts are the real limits
	u.ContextTimeoutEnabled = true
	u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = most, most, most
	u.DialTimeout, u.DialerRetries = 500*time.Millisecond, 1
	u.MaxRetries, u.MaxRedirects = 1, 3
	u.PoolSize, u.PipelinePoolSize = o.Connections, -1
	u.FailingTimeoutSeconds = 1
	u.DisableIdentity = true
	u.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if u.TLSConfig == nil {
		return
	}
	if o.TLS != nil {
		verify := u.TLSConfig.InsecureSkipVerify
		u.TLSConfig = o.TLS.Clone()
		u.TLSConfig.InsecureSkipVerify = u.TLSConfig.InsecureSkipVerify || verify
	} else {
		u.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: u.TLSConfig.InsecureSkipVerify}
	}
	// Without a ServerName each server is checked under its own name.
}

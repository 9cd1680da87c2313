package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// ParseURL parses a worker's base URL and drops a trailing slash and a trailing
// /v1, so that API paths can be joined to it. Errors do not repeat the URL,
// which may hold a password by mistake.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("is empty")
	case err != nil:
		return nil, errors.New("is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("does not begin with http:// or https://")
	case u.User != nil:
		return nil, errors.New("contains a user or password; use api_key_file")
	case u.Hostname() == "":
		return nil, errors.New("has no host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("has a query or fragment")
	case u.Port() != "" && !validPort(u.Port(), 1), strings.HasSuffix(u.Host, ":"):
		return nil, errors.New("has a bad port")
	}
	u.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1"), "/")
	u.RawPath = ""
	return u, nil
}

// hostPort returns a URL's host and port, with the scheme's port if it has none.
func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	port := "80"
	if u.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// checkListen checks the address of a listener.
func checkListen(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil || !validPort(port, 0) {
		return fmt.Errorf("%s is no host:port", quote(addr))
	}
	return nil
}

func validPort(port string, least uint64) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n >= least
}

// checkRedis checks the URL of the shared state, without repeating it: it may
// hold a password.
func checkRedis(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return errors.New("is no URL")
	}
	switch {
	case u.Scheme == "unix" && u.Path != "", (u.Scheme == "redis" || u.Scheme == "rediss") && u.Hostname() != "":
		return nil
	}
	return errors.New("is no redis://, rediss:// or unix:// URL with a host or path")
}

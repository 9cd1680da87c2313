package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// nginxConfig relays streams as they come and keeps connections to the worker.
// What is not about that is as nginx has it.
const nginxConfig = `daemon off;
user root;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log %[1]s/nginx.log;
events { worker_connections %[4]d; }
http {
  access_log off;
  client_body_temp_path %[1]s/nginx-body;
  proxy_temp_path %[1]s/nginx-proxy;
  fastcgi_temp_path %[1]s/nginx-fastcgi;
  uwsgi_temp_path %[1]s/nginx-uwsgi;
  scgi_temp_path %[1]s/nginx-scgi;
  client_max_body_size 32m;
  keepalive_requests 100000000;
  tcp_nodelay on;
  upstream worker { server %[3]s; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen %[2]s backlog=16384;
    location / {
      proxy_pass http://worker;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 120s;
    }
  }
}
`

// haproxyConfig does the same.
const haproxyConfig = `global
  nbthread 1
  maxconn %[3]d
defaults
  mode http
  option http-no-delay
  http-reuse always
  timeout connect 20s
  timeout client 120s
  timeout server 120s
listen worker
  bind %[1]s backlog 16384
  server worker %[2]s pool-max-conn -1
`

// gatewayConfig is a gateway with everything on that it has by default: three
// strategies in processes of their own, probes, metrics and the peek.
func gatewayConfig(listen, admin, worker string) ([]byte, error) {
	return json.Marshal(map[string]any{ // YAML too
		"listen": listen, "admin_listen": admin,
		"workers":  []any{map[string]any{"url": "http://" + worker}},
		"probe":    map[string]any{"successes": 1},
		"timeouts": map[string]any{"shutdown_grace": "1s", "connect": "20s"},
		"log":      map[string]any{"level": "warn"},
	})
}

// gatewayEnv has one trace of a hundred exported to the worker, which throws it
// away.
func gatewayEnv(worker string) []string {
	return append(os.Environ(),
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://"+worker+"/v1/traces", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
		"OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01")
}

// scene is where the contenders find what they need.
type scene struct {
	folder    string // for configurations
	bin       string // folder of gatewayd
	worker    string // address
	workerPID int
	conns     int    // clients that a contender must be able to hold
	core      string // number of the contenders' core, "" for any
	place     place  // of the worker
}

// configure writes a contender's configuration and returns its path.
func (s scene) configure(name string, text []byte) (string, error) {
	path := filepath.Join(s.folder, name)
	return path, os.WriteFile(path, text, 0o600)
}

func (s scene) nginx() (*contender, error) {
	c := &contender{name: "nginx", address: freeAddress()}
	path, err := s.configure("nginx.conf", fmt.Appendf(nil, nginxConfig, s.folder, c.address, s.worker, 2*s.conns))
	if err != nil {
		return nil, err
	}
	return c, c.start(s, nil, "nginx", "-e", filepath.Join(s.folder, "nginx.log"), "-p", s.folder, "-c", path)
}

func (s scene) haproxy() (*contender, error) {
	c := &contender{name: "haproxy", address: freeAddress()}
	path, err := s.configure("haproxy.cfg", fmt.Appendf(nil, haproxyConfig, c.address, s.worker, s.conns))
	if err != nil {
		return nil, err
	}
	return c, c.start(s, nil, "haproxy", "-db", "-f", path)
}

func (s scene) gatewayd() (*contender, error) {
	c := &contender{name: "gatewayd", address: freeAddress(), admin: freeAddress()}
	text, err := gatewayConfig(c.address, c.admin, s.worker)
	if err != nil {
		return nil, err
	}
	path, err := s.configure("gatewayd.json", text)
	if err != nil {
		return nil, err
	}
	return c, c.start(s, gatewayEnv(s.worker), filepath.Join(s.bin, "gatewayd"), "serve", "--config", path)
}

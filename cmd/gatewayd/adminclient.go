package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/internal/admin"
)

// adminFlags say which running gateway a command talks to.
func adminFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "admin", Value: "127.0.0.1:9090", Usage: "`ADDR` of the gateway's admin listener, host:port"},
		&cli.StringFlag{Name: "token-file", Usage: "`FILE` with the token, admin_token_file of the gateway; the default is that of its user"},
		&cli.DurationFlag{Name: "timeout", Value: time.Minute, Usage: "`TIME` to wait for the gateway's answer"},
	}
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 16 << 20

// ask sends a request to the admin listener and reads the answer into v.
func ask(c *cli.Context, method, path string, body, v any) error {
	file := c.String("token-file")
	if file == "" {
		var err error
		if file, err = admin.TokenFile(); err != nil {
			return usageError{fmt.Errorf("no token file is known: %w\nhint: name it with --token-file", err)}
		}
	}
	token, err := admin.ReadToken(file)
	if err != nil {
		return usageError{fmt.Errorf("%w\nhint: --token-file names that of the gateway", err)}
	}
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(c.Context, c.Duration("timeout"))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, (&url.URL{Scheme: "http", Host: c.String("admin"), Path: path}).String(), &text)
	if err != nil {
		return usageError{fmt.Errorf("--admin: %w", err)}
	}
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // no proxy gets the token
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%w\nhint: --admin names the admin listener of a gateway that runs", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusOK {
		return json.Unmarshal(b, v)
	}
	var refusal struct{ Error string }
	if json.Unmarshal(b, &refusal) != nil || refusal.Error == "" {
		refusal.Error = "it is no gateway's admin listener: " + resp.Status
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return usageError{fmt.Errorf("the gateway does not take the token of %s\nhint: --token-file names that of the gateway", file)}
	}
	return errors.New(refusal.Error)
}

// changed prints which configuration is in force.
func changed(p process, change admin.Change) error {
	_, err := fmt.Fprintf(p.stdout, "configuration %d is in force since %s\n", change.Number, change.Since.Format(time.RFC3339))
	return err
}

func reloadCommand(p process) *cli.Command {
	return &cli.Command{
		Name:        "reload",
		Usage:       "have a running gateway read its configuration anew, as SIGHUP does",
		UsageText:   "gatewayd reload [--admin ADDR] [--token-file FILE]\n\nExample:\n   gatewayd reload --admin 127.0.0.1:9090",
		Description: "Returns when the new configuration is in force. When it is refused, all is as before, the reason\nis printed and the exit code is 1.",
		Flags:       adminFlags(), OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			var change admin.Change
			if err := ask(c, http.MethodPost, "/reload", nil, &change); err != nil {
				return err
			}
			return changed(p, change)
		},
	}
}

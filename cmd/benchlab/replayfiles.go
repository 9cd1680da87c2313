package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/replay"
)

// targetURL reads --target.
func targetURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, usage("--target is missing: give the server's base URL, as --target http://127.0.0.1:8080")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("--target %q: give a base URL, as http://127.0.0.1:8080", text)
	}
	return u, nil
}

// readKey reads a file with an API key.
func readKey(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", usage("--api-key-file: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", usage("--api-key-file: %s is empty", name)
	}
	return key, nil
}

// replayFiles are where a replay's result goes besides standard output.
type replayFiles struct {
	json, rows *file // nil: not asked for
	plain      bool  // JSON goes to standard output, in place of the text
}

func openReplayFiles(c *cli.Context) (f replayFiles, err error) {
	f.plain = c.String("json") == "-"
	if f.json, err = openJSON(c); err != nil {
		return f, err
	}
	if name := c.String("requests-out"); name != "" {
		if f.rows, err = openFile(name); err != nil {
			f.discard()
			return f, usage("--requests-out: %w", err)
		}
	}
	return f, nil
}

// write writes the result everywhere.
func (f *replayFiles) write(p program, report *replay.Report, result *replay.Result) error {
	if f.json != nil {
		if err := report.WriteJSON(f.json); err != nil {
			return err
		}
	}
	if f.rows != nil {
		if err := result.WriteRows(f.rows); err != nil {
			return err
		}
	}
	for _, x := range []**file{&f.json, &f.rows} {
		if err := (*x).keep(); err != nil {
			return err
		}
		*x = nil
	}
	if f.plain {
		return report.WriteJSON(p.stdout)
	}
	return report.WriteText(p.stdout)
}

// discard takes away the files that would be incomplete.
func (f *replayFiles) discard() {
	f.json.discard()
	f.rows.discard()
}

// commandLine is the command as a shell would take it.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$&;|<>()*?[]#~`") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// sending shows on a terminal how far a replay is.
type sending struct {
	all         int
	sent, ended atomic.Int64
	done        chan struct{}
	shown       sync.WaitGroup
}

func (p program) sending(all int) *sending {
	s := &sending{all: all, done: make(chan struct{})}
	if p.terminal {
		s.shown.Go(func() {
			ticker := time.NewTicker(terminalPeriod)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					fmt.Fprintf(p.stderr, "\r\033[Ksent %d of %d requests, %d have ended", s.sent.Load(), s.all, s.ended.Load())
				case <-s.done:
					fmt.Fprint(p.stderr, "\r\033[K")
					return
				}
			}
		})
	}
	return s
}

func (s *sending) set(sent, ended int) {
	s.sent.Store(int64(sent))
	s.ended.Store(int64(ended))
}

// close takes the line away.
func (s *sending) close() {
	close(s.done)
	s.shown.Wait()
}

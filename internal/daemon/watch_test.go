package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
)

// The file goes from good to broken to good, by every way in which a file changes:
// the last good one stays in force, the error can be seen, and then it is gone.
func TestWatch(t *testing.T) {
	dir, worker := t.TempDir(), holding(t, nil)
	file := filepath.Join(dir, "gatewayd.yaml")
	good := func(queue int) string {
		return fmt.Sprintf("listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:0\nadmin_token_file: token\nstrategies: []\nworkers:\n  - url: %s\nlimits: {queue: %d}\n", worker, queue)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, good(1))
	c, err := config.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Start(t.Context(), Options{
		Config: c, Logger: hclog.NewNullLogger(), Getenv: func(string) string { return "" },
		Load: func() (config.Config, error) { return config.LoadFile(file) }, File: file, Text: []byte(good(1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Shutdown(t.Context())
	number := uint64(1)
	applies := func(how string, queue int) {
		t.Helper()
		number++
		until(t, how+" to come into force", func() bool { return d.Config().Number == number && d.Config().Error == "" })
		if now, _ := d.generations(); now.config.Limits.Queue != queue {
			t.Errorf("%s: the queue has %d places, want %d", how, now.config.Limits.Queue, queue)
		}
	}
	breaks := func(how, says string) {
		t.Helper()
		until(t, "the error of "+how, func() bool { return strings.Contains(d.Config().Error, says) })
		if now := d.Config(); now.Number != number {
			t.Errorf("%s: %+v is in force", how, now)
		}
	}
	write(file, good(2))
	applies("a good file", 2)
	write(file, good(3)+"limits: {queue: many}\n")
	breaks("a broken file", "limits")
	write(file, good(3))
	applies("the mended file", 3)
	write(file, good(4)[:30])
	breaks("a half-written file", ":2:")
	write(file, good(4))
	applies("the whole file", 4)
	next := filepath.Join(dir, "next.yaml")
	write(next, good(5))
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	applies("a renamed file", 5)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	breaks("a file that is gone", "no such file")
	write(next, good(6))
	if err := os.Symlink(next, file); err != nil {
		t.Fatal(err)
	}
	applies("a link", 6)
	other := filepath.Join(dir, "other.yaml")
	write(other, good(7))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, file); err != nil {
		t.Fatal(err)
	}
	applies("another link", 7)
	write(other, strings.Replace(good(7), "listen: 127.0.0.1:0", "listen: 127.0.0.1:1", 1))
	breaks("another address", "listen cannot change")
	write(other, good(7))
	until(t, "the error to be gone", func() bool { return d.Config().Error == "" })
	if now := d.Config(); now.Number != number {
		t.Errorf("the same configuration came into force again: %+v", now)
	}
}

package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"time"
)

// watchEvery is how often the configuration's file, and the certificates that it
// names, are read. A change counts when two readings in a row are the same: one that
// is being written is not tried.
const watchEvery = 250 * time.Millisecond

// maxWatched bounds what is read of a file, in bytes.
const maxWatched = 1 << 20

// digest stands for what all watched files hold.
type digest [sha256.Size]byte

// watch reloads the configuration when its file or a certificate has changed, however
// that came to be: written, renamed, or reached by another link.
func (d *Daemon) watch(ctx context.Context, file string) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	last := d.digest(d.o.Text)
	tried := last
	if !d.current() {
		tried = digest{}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := d.digest(contents(file))
		stable := now == last
		if last = now; !stable || now == tried {
			continue
		}
		if err := d.Reload(ctx); !errors.Is(err, ErrBusy) {
			tried = now
		}
	}
}

// current reports whether the certificates are still those that came into force: they
// were read before they were watched.
func (d *Daemon) current() bool {
	now, _ := d.generations()
	if d.o.Load == nil || len(now.config.TLS.Files()) == 0 {
		return true
	}
	c, err := d.o.Load()
	return err == nil && c.Same(now.config)
}

// digest sums up the text of the configuration's file and the certificates that the
// configuration in force names.
func (d *Daemon) digest(text []byte) (sum digest) {
	h := sha256.New()
	add := func(text []byte) {
		part := sha256.Sum256(text)
		h.Write(part[:])
	}
	add(text)
	now, _ := d.generations()
	for _, name := range now.config.TLS.Files() {
		add(contents(name))
	}
	h.Sum(sum[:0])
	return sum
}

// contents returns what a file holds, or a text that no file holds and that says why
// it cannot be read.
func contents(file string) []byte {
	text, err := read(file)
	if err != nil {
		return []byte("\x00" + err.Error())
	}
	return text
}

func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxWatched+1))
}

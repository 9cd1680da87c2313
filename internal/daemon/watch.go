package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// watchEvery is how often the configuration's file is read. A change counts when
// two readings in a row are the same: one that is being written is not tried.
const watchEvery = 250 * time.Millisecond

// maxWatched bounds what is read of the file, in bytes.
const maxWatched = 1 << 20

// watch reloads the configuration when its file has changed, however that came to
// be: written, renamed, or reached by another link.
func (d *Daemon) watch(ctx context.Context, file string) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	tried, last := d.o.Text, d.o.Text
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		text, err := read(file)
		if err != nil {
			text = []byte("\x00" + err.Error()) // no file holds that
		}
		stable := bytes.Equal(text, last)
		if last = text; !stable || bytes.Equal(text, tried) {
			continue
		}
		if err := d.Reload(ctx); !errors.Is(err, ErrBusy) {
			tried = text
		}
	}
}

func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxWatched+1))
}

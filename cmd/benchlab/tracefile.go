package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/trace"
)

// tracePlace is where a trace and what belongs to it are.
type tracePlace struct {
	name      string // of the file; empty: the built-in trace
	dict      string // folder of dictionaries; empty: that of the file
	blockSize int    // of formats whose files do not state it; 0: the format's
}

// placeFlags say what a trace's file does not.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "dict", Usage: "`FOLDER` with RAGPulse's dictionaries", DefaultText: "that of the trace"},
		&cli.IntFlag{Name: "block-size", Usage: "a block id stands for `N` prompt tokens, where the file does not say", DefaultText: "the format's"},
	}
}

func placeOf(c *cli.Context, name string) (tracePlace, error) {
	p := tracePlace{name, c.String("dict"), c.Int("block-size")}
	if c.IsSet("block-size") && (p.blockSize < 1 || p.blockSize > 1<<14) {
		return p, usage("--block-size %d: give a number from 1 to %d", p.blockSize, 1<<14)
	}
	if name == "" && (c.IsSet("dict") || c.IsSet("block-size")) {
		return p, usage("--dict and --block-size say what a file does not; give the trace that is meant")
	}
	return p, nil
}

// readTrace reads a trace file, or the built-in trace if name is empty. A trace
// has at least one request.
func readTrace(name string) (input, error) { return tracePlace{name: name}.read() }

func (p tracePlace) read() (input, error) {
	if p.name == "" {
		t, err := trace.Default()
		return input{t, defaultSHA256}, err
	}
	f, err := os.Open(p.name)
	if err != nil {
		return input{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return input{}, fmt.Errorf("%s is a folder; name a file in it", p.name)
	}
	sum := sha256.New()
	r := io.TeeReader(bufio.NewReaderSize(f, 1<<16), sum)
	t, err := trace.Read(r, p.name, trace.Options{BlockTokens: p.blockSize, Open: p.open})
	if err != nil {
		return input{}, err
	}
	if p.dict != "" && t.Format != "ragpulse" {
		return input{}, fmt.Errorf("%s is of the form %s, which has no dictionaries; leave --dict out", p.name, t.Format)
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // what the reader left unread
		return input{}, err
	}
	return input{t, hex.EncodeToString(sum.Sum(nil))}, nil
}

// open opens a file that belongs to the trace, packed or not.
func (p tracePlace) open(name string) (io.ReadCloser, error) {
	folder := p.dict
	if folder == "" {
		folder = filepath.Dir(p.name)
	}
	for _, ending := range []string{"", ".gz", ".zst"} {
		f, err := os.Open(filepath.Join(folder, name+ending))
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s (or .gz, .zst) is not in %s", name, folder)
}

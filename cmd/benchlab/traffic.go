package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/trace"
)

// defaultSHA256 is the checksum of the file behind trace.Default.
const defaultSHA256 = "305089d2c56eb675538c50f0817d6b82d8175ae6e9235d5402e2fca8102db7a8"

// input is a trace with the checksum of its file.
type input struct {
	trace  *trace.Trace
	sha256 string
}

// readTrace reads a trace file, or the built-in trace if name is empty. A trace
// has at least one request.
func readTrace(name string) (input, error) {
	if name == "" {
		t, err := trace.Default()
		return input{t, defaultSHA256}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return input{}, err
	}
	defer f.Close()
	sum := sha256.New()
	r := io.TeeReader(bufio.NewReaderSize(f, 1<<16), sum)
	t, err := trace.Read(r, name, trace.Options{})
	if err != nil {
		return input{}, err
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // what the reader left unread
		return input{}, err
	}
	return input{t, hex.EncodeToString(sum.Sum(nil))}, nil
}

func (p program) trace() *cli.Command {
	return &cli.Command{
		Name: "trace", Usage: "look at recorded traffic", OnUsageError: wrongFlag, Action: group,
		Subcommands: []*cli.Command{{
			Name: "info", Usage: "print what a trace holds; the built-in one if no file is given", ArgsUsage: "[FILE]",
			OnUsageError: wrongFlag,
			Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
			Action: func(c *cli.Context) error {
				if c.NArg() > 1 {
					return usage("trace info takes one file, not %d", c.NArg())
				}
				in, err := readTrace(c.Args().First())
				if err != nil {
					return usage("trace info: %w", err)
				}
				info := report.NewTraceInfo(in.trace.InferSessions(0), in.sha256)
				if c.Bool("json") {
					return info.WriteJSON(p.stdout)
				}
				return info.WriteText(p.stdout)
			},
		}},
	}
}

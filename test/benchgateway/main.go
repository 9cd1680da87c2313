package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-gateway:", err)
		os.Exit(1)
	}
}

// command runs the benchmark, or the worker of one.
func command(ctx context.Context, args []string, in io.Reader, out, progress io.Writer) error {
	p := plan{warm: time.Second}
	flags := flag.NewFlagSet("bench-gateway", flag.ContinueOnError)
	flags.SetOutput(progress)
	bin := flags.String("bin", "bin", "folder of gatewayd")
	worker := flags.Bool("worker", false, "be the worker: print the address and answer until standard input ends")
	pin := flags.Bool("pin", runtime.NumCPU() > 1, "give the contenders the first core, and generator and worker the others")
	where := flags.String("place", string(apart), "where the worker runs when pinned: "+string(apart)+" from what asks it, or always beside the "+string(besideGenerator)+" or the "+string(besideContender))
	flags.DurationVar(&p.span, "span", time.Second, "time of one turn")
	flags.IntVar(&p.repeats, "repeats", 3, "measure all so many times, each figure in several turns")
	flags.IntVar(&p.streams, "streams", 1000, "streams at once")
	flags.IntVar(&p.events, "events", 200, "events of a stream")
	flags.DurationVar(&p.gap, "gap", 50*time.Millisecond, "time between two events of a stream")
	flags.IntVar(&p.idle, "idle", 10_000, "idle streams at once; their memory is told for 10,000")
	flags.IntVar(&p.firsts, "firsts", 300, "streams whose first event is timed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are only flags", flags.Arg(0))
	}
	if p.span <= 0 || p.gap <= 0 || min(p.repeats, p.streams, p.events, p.idle, p.firsts) < 1 {
		return errors.New("every number and time must be greater than 0")
	}
	if err := place(*where).valid(); err != nil {
		return err
	}
	if *worker {
		return beWorker(in, out)
	}
	if *pin {
		return pinned(ctx, args, out, progress)
	}
	return p.compare(ctx, scene{bin: *bin, core: os.Getenv(coreVariable), place: place(*where)}, out, progress)
}

// coreVariable tells the pinned benchmark which core the contenders have.
const coreVariable = "BENCH_CONTENDER_CORE"

// pinned runs this program again on all cores but the first: an affinity is taken
// over by what a process starts, not by the threads that it already has.
func pinned(ctx context.Context, args []string, out, progress io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	rest := "1-" + strconv.Itoa(runtime.NumCPU()-1)
	c := exec.CommandContext(ctx, "taskset", append([]string{"-c", rest, self, "-pin=false"}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 4 * stopLimit
	c.Env = append(os.Environ(), coreVariable+"=0")
	c.Stdout, c.Stderr = out, progress
	return c.Run()
}

// spareFiles are open files of a process that are no connections.
const spareFiles = 100

// compare starts everything, measures and reports.
func (p plan) compare(ctx context.Context, s scene, out, progress io.Writer) (err error) {
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // a thread that sleeps must not stop the others
	files, err := raiseFiles()
	if err != nil {
		return err
	}
	s.conns = files/2 - spareFiles // a proxy has two connections for each stream
	if most := s.conns - 2*openClients; p.idle > most {
		fmt.Fprintf(progress, "%d open files are allowed (ulimit -Hn): %d idle streams instead of %d\n", files, most, p.idle)
		p.idle = most
	}
	if p.idle < 1 || p.streams > p.idle {
		return fmt.Errorf("%d open files are too few for %d streams\nhint: raise the limit (ulimit -n), or measure fewer with -streams", files, p.streams)
	}
	if s.folder, err = os.MkdirTemp("", "bench-gateway-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	var stop func()
	if s.worker, s.workerPID, stop, err = startWorker(); err != nil {
		return err
	}
	defer stop()
	contenders, err := s.lineup()
	defer func() {
		for _, c := range contenders {
			c.stop()
		}
	}()
	if err != nil {
		return err
	}
	for _, c := range contenders {
		if err := c.ready(ctx); err != nil {
			return err
		}
	}
	before, err := readCores()
	if err != nil {
		return err
	}
	results, err := p.run(ctx, s, contenders, progress)
	if err != nil {
		return err
	}
	after, err := readCores()
	if err != nil {
		return err
	}
	if err := report(out, contenders, results); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nThe hypervisor took %.1f %% of the cores' time meanwhile.\n", 100*after.since(before))
	return err
}

// startWorker starts the worker in a process of its own, which ends with this one.
func startWorker() (address string, pid int, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", 0, nil, err
	}
	c := exec.Command(self, "-worker")
	in, err := c.StdinPipe()
	if err != nil {
		return "", 0, nil, err
	}
	said, err := c.StdoutPipe()
	if err != nil {
		return "", 0, nil, err
	}
	if err := c.Start(); err != nil {
		return "", 0, nil, err
	}
	stop = func() {
		in.Close()
		_ = c.Wait()
	}
	line := make([]byte, 64)
	n, err := said.Read(line)
	if err != nil {
		stop()
		return "", 0, nil, fmt.Errorf("the worker did not start: %w", err)
	}
	return strings.TrimSpace(string(line[:n])), c.Process.Pid, stop, nil
}

// beWorker is the worker until its input ends.
func beWorker(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		l.Close()
	}()
	return work(l)
}

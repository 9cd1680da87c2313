package plugin

import (
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
)

// Spec says which executable to run and how. Name and Path are required; the
// zero value of the rest gives the defaults.
type Spec struct {
	// Name tags log lines, errors and spans.
	Name string
	// Path is the executable, as Resolve returns it, and Args its arguments
	// without the program's name. The bundled strategies run as
	// Path: os.Executable(), Args: {"strategy", name}.
	Path string
	Args []string
	// SHA256 is the checksum that the executable must have, in hexadecimal; ""
	// allows any. It is compared before every start; who can write to the file's
	// folder could still replace it between that and the start.
	SHA256 string
	// MTLS encrypts the connection and has both ends prove with certificates, made
	// for this one start, that they are the other's. The plugin must offer it, as
	// Serve does.
	MTLS bool
	// Env is the environment of the process, as "KEY=value". None of the host's
	// is passed on; PATH, TMPDIR and what the handshake needs are added.
	Env []string
	// Strategy is the definition to open instances of. The default is the only
	// one that the process serves, or else the one called Name.
	Strategy string

	// StartTimeout bounds a start, from the fork to the description: 5 s.
	StartTimeout time.Duration
	// StopTimeout is how long a process may take to end before it is killed, and
	// an instance to close: 2 s.
	StopTimeout time.Duration
	// CallTimeout bounds Open and Plan calls whose context has no
	// deadline of its own: 10 s.
	CallTimeout time.Duration
	// RouteTimeout bounds Route calls likewise: 25 ms.
	RouteTimeout time.Duration

	// Restart bounds the waits between two starts of a supervised process; they
	// double from First to Longest: 100 ms to 30 s.
	Restart Restart
	// Quarantine says when a supervised process has ended or failed to start so
	// often that it is left alone for longer: 5 times in a minute, 5 minutes.
	Quarantine Quarantine
	// KeepTrying lets Supervise return a supervisor that goes on trying although
	// the first start failed.
	KeepTrying bool

	// Logger gets what the process prints and what becomes of it; nil drops it.
	Logger hclog.Logger
	// OnSpans gets the finished spans of sampled calls. It is called from one
	// goroutine per instance, and calls wait while it runs.
	OnSpans func(plugin string, spans []Span)
	// OnState is told of each change of a supervised process, in order, from one
	// goroutine. It must not call the supervisor's Close.
	OnState func(State)

	versions map[int]goplugin.PluginSet // of the protocol, that the host speaks
}

// Restart bounds the waits between two starts. A wait is spread by a fifth in
// both directions.
type Restart struct{ First, Longest time.Duration }

// Quarantine keeps a process that has ended Crashes times within Within from being
// started for For. Then it is started once more, and counted anew.
type Quarantine struct {
	Crashes     int
	Within, For time.Duration
}

func (s Spec) withDefaults() (Spec, error) {
	if s.Name == "" || s.Path == "" {
		return s, errors.New("plugin spec: name and path are required")
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&s.StartTimeout, 5*time.Second)
	def(&s.StopTimeout, 2*time.Second)
	def(&s.CallTimeout, 10*time.Second)
	def(&s.RouteTimeout, 25*time.Millisecond)
	def(&s.Restart.First, 100*time.Millisecond)
	def(&s.Restart.Longest, 30*time.Second)
	def(&s.Quarantine.Within, time.Minute)
	def(&s.Quarantine.For, 5*time.Minute)
	if s.Quarantine.Crashes <= 0 {
		s.Quarantine.Crashes = 5
	}
	if s.Logger == nil {
		s.Logger = hclog.NewNullLogger()
	}
	s.Logger = s.Logger.With("plugin", s.Name)
	if s.versions == nil {
		s.versions = versions()
	}
	if s.OnSpans == nil {
		s.OnSpans = func(string, []Span) {}
	}
	if s.OnState == nil {
		s.OnState = func(State) {}
	}
	return s, nil
}

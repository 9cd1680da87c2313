package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gatewayd/pkg/plugin/wire"
)

// What a call can fail with, for errors.Is; the messages say more.
var (
	// ErrDown: the process has ended, or its instance is closed.
	ErrDown = errors.New("plugin is down")
	// ErrLate: the deadline passed; an answer that still comes has no effect.
	ErrLate = errors.New("plugin did not answer in time")
	// ErrBusy: too many calls wait, or the last plan is still being computed.
	ErrBusy = errors.New("plugin is busy")
	// ErrInvalid: an answer breaks a rule of the contract or of the protocol.
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported: the instance does not route or does not plan.
	ErrUnsupported = errors.New("not supported")
	// ErrUnknownStrategy: the process does not serve a strategy of that name.
	ErrUnknownStrategy = errors.New("unknown strategy")
	// ErrOption: an option is unknown or out of range.
	ErrOption = errors.New("wrong option")
	// ErrStrategy: the strategy itself returned an error.
	ErrStrategy = errors.New("strategy failed")

	errUnknownInstance = errors.New("unknown instance")
	errForgotten       = errors.New("plan is not kept")
)

var errorCodes = [...]struct {
	code wire.Code
	err  error
}{
	{wire.Code_CODE_UNKNOWN_STRATEGY, ErrUnknownStrategy},
	{wire.Code_CODE_OPTION, ErrOption},
	{wire.Code_CODE_UNKNOWN_INSTANCE, errUnknownInstance},
	{wire.Code_CODE_UNSUPPORTED, ErrUnsupported},
	{wire.Code_CODE_BUSY, ErrBusy},
	{wire.Code_CODE_INVALID, ErrInvalid},
	{wire.Code_CODE_STRATEGY, ErrStrategy},
	{wire.Code_CODE_FORGOTTEN, errForgotten},
}

// tagged gives err a sentinel that stays out of its message.
type tagged struct{ error, kind error }

func (t tagged) Error() string   { return t.error.Error() }
func (t tagged) Unwrap() []error { return []error{t.error, t.kind} }

func tag(kind, err error) error { return tagged{err, kind} }

func encodeError(err error) *wire.Error {
	if err == nil {
		return nil
	}
	for _, c := range errorCodes {
		if errors.Is(err, c.err) {
			return &wire.Error{Code: c.code, Message: wire.Text(err.Error())}
		}
	}
	return &wire.Error{Message: wire.Text(err.Error())}
}

func decodeError(m *wire.Error) error {
	if m == nil {
		return nil
	}
	err := errors.New(m.GetMessage())
	for _, c := range errorCodes {
		if m.GetCode() == c.code {
			return tag(c.err, err)
		}
	}
	return err
}

// callError says what a failed gRPC call means for the caller.
func callError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return tag(context.DeadlineExceeded, ErrLate)
	}
	switch code := status.Code(err); {
	case errors.Is(err, io.EOF):
		return tag(ErrInvalid, errors.New("the plugin ended its answer too early"))
	case code == codes.DeadlineExceeded:
		return tag(context.DeadlineExceeded, ErrLate)
	case code == codes.Unavailable || code == codes.Canceled:
		return tag(ErrDown, fmt.Errorf("connection to the plugin lost: %s", status.Convert(err).Message()))
	case code == codes.ResourceExhausted || code == codes.Internal || code == codes.Unimplemented:
		return tag(ErrInvalid, fmt.Errorf("the plugin breaks the protocol: %s", status.Convert(err).Message()))
	}
	return err
}

// StartError says why a process does not serve strategies. Its message is for
// people; the last line is a hint at the next thing to do.
type StartError struct {
	Plugin string // Spec.Name
	Path   string
	Output string // what it printed, its last lines
	Hint   string
	Err    error // fs.ErrNotExist, fs.ErrPermission, context.DeadlineExceeded, ErrInvalid ...
}

// Error returns the reason, the output if there is any, and the hint.
func (e *StartError) Error() string {
	s := fmt.Sprintf("start plugin %s (%s): %v", e.Plugin, e.Path, e.Err)
	if e.Output != "" {
		s += "; it printed: " + e.Output
	}
	return s + "\nhint: " + e.Hint
}

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

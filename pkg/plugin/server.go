package plugin

import (
	"context"
	"fmt"
	"sync"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// maxInstances bounds what one process serves at a time.
const maxInstances = 4096

// server is the plugin's side of the protocol.
type server struct {
	wire.UnimplementedStrategyServer
	definitions []router.Definition

	mu        sync.Mutex
	last      uint64
	instances map[uint64]*served
}

// served is one open instance.
type served struct {
	id       uint64
	pool     string
	info     router.Info
	strategy router.Strategy
	planner  router.Planner
	observer router.Observer

	lane, planning sync.Mutex // one stream and one plan call at a time
	kept           kept
}

func newServer(definitions []router.Definition) (*server, error) {
	seen := map[string]bool{}
	for _, d := range definitions {
		if d.Name == "" || d.New == nil || seen[d.Name] {
			return nil, fmt.Errorf("plugin: definition %q needs a name of its own and a New function", d.Name)
		}
		seen[d.Name] = true
	}
	if len(seen) == 0 {
		return nil, fmt.Errorf("plugin: Serve needs at least one definition")
	}
	return &server{definitions: definitions, instances: map[uint64]*served{}}, nil
}

// Describe says what the process serves.
func (s *server) Describe(context.Context, *wire.DescribeRequest) (*wire.DescribeResponse, error) {
	m := &wire.DescribeResponse{Protocol: Protocol, FeatureVersion: router.FeatureVersion}
	for _, d := range s.definitions {
		m.Definitions = append(m.Definitions, wire.EncodeDefinition(d))
	}
	return m, nil
}

// Open makes an instance.
func (s *server) Open(_ context.Context, m *wire.OpenRequest) (*wire.OpenResponse, error) {
	in, err := s.open(m)
	if err != nil {
		return &wire.OpenResponse{Error: encodeError(err)}, nil
	}
	return &wire.OpenResponse{Instance: in.id, Info: wire.EncodeInfo(in.info)}, nil
}

func (s *server) open(m *wire.OpenRequest) (*served, error) {
	var definition *router.Definition
	for i := range s.definitions {
		if s.definitions[i].Name == m.GetStrategy() {
			definition = &s.definitions[i]
		}
	}
	if definition == nil {
		return nil, tag(ErrUnknownStrategy, fmt.Errorf("strategy %q is not served here", m.GetStrategy()))
	}
	options := router.Options(m.GetOptions())
	if options == nil {
		options = router.Options{}
	}
	instance, err := definition.New(options, m.GetSeed())
	if err != nil {
		return nil, tag(ErrOption, err)
	}
	in := &served{pool: m.GetPool(), info: instance.Info()}
	in.strategy, _ = instance.(router.Strategy)
	in.planner, _ = instance.(router.Planner)
	in.observer, _ = instance.(router.Observer)
	switch {
	case in.info.Routes && in.strategy == nil:
		err = fmt.Errorf("strategy %s says that it routes, but has no Route method", m.GetStrategy())
	case in.info.Plans && in.planner == nil:
		err = fmt.Errorf("strategy %s says that it plans, but has no Plan method", m.GetStrategy())
	case len(in.info.Observes) > 0 && in.observer == nil:
		err = fmt.Errorf("strategy %s says that it observes, but has no Observe method", m.GetStrategy())
	}
	if err != nil {
		return nil, tag(ErrStrategy, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.instances) == maxInstances {
		return nil, tag(ErrBusy, fmt.Errorf("%d instances are open; close some", maxInstances))
	}
	s.last++
	in.id = s.last
	s.instances[in.id] = in
	return in, nil
}

// Close forgets an instance; its lane ends when the host ends the stream.
func (s *server) Close(_ context.Context, m *wire.CloseRequest) (*wire.CloseResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.instances[m.GetInstance()]; !ok {
		return &wire.CloseResponse{Error: encodeError(unknown(m.GetInstance()))}, nil
	}
	delete(s.instances, m.GetInstance())
	return &wire.CloseResponse{}, nil
}

func (s *server) find(id uint64) (*served, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, ok := s.instances[id]; ok {
		return in, nil
	}
	return nil, unknown(id)
}

func unknown(id uint64) error {
	return tag(errUnknownInstance, fmt.Errorf("no open instance has number %d", id))
}

package plugin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protodelim"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// MarshalPlan packs a valid plan for storage and exchange between gateways: the
// protocol's messages, each with its length in front.
func MarshalPlan(p *router.Plan) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("pack plan: %w", err)
	}
	var b bytes.Buffer
	_, err := protodelim.MarshalTo(&b, wire.EncodePlan(p))
	for part := range wire.EncodeTable(&p.Table) {
		if err == nil {
			_, err = protodelim.MarshalTo(&b, part)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pack plan: %w", err)
	}
	return b.Bytes(), nil
}

// UnmarshalPlan unpacks what MarshalPlan packed. It refuses bytes that are not
// a valid plan.
func UnmarshalPlan(b []byte) (router.Plan, error) {
	r := bufio.NewReader(bytes.NewReader(b))
	options := protodelim.UnmarshalOptions{MaxSize: int64(len(b))}
	var head wire.Plan
	if err := options.UnmarshalFrom(r, &head); err != nil {
		return router.Plan{}, fmt.Errorf("unpack plan: %w", err)
	}
	p, err := wire.DecodePlan(&head)
	if err != nil {
		return router.Plan{}, fmt.Errorf("unpack plan: %w", err)
	}
	for {
		var part wire.PlanTable
		if err := options.UnmarshalFrom(r, &part); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return router.Plan{}, fmt.Errorf("unpack plan: %w", err)
		}
		if err := wire.DecodeTable(&part, &p.Table); err != nil {
			return router.Plan{}, fmt.Errorf("unpack plan: %w", err)
		}
	}
	if err := p.Validate(); err != nil {
		return router.Plan{}, fmt.Errorf("unpack plan: %w", err)
	}
	return p, nil
}

package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ProfileFormat names the form of a profile file.
const ProfileFormat = "gatewayd.benchlab.profile/1"

// maxProfileBytes bounds a profile file.
const maxProfileBytes = 1 << 20

type profileFile struct {
	Format string `json:"format"`
	Profile
}

// WriteProfile writes a profile as indented JSON, which ReadProfile reads.
func WriteProfile(w io.Writer, p Profile) error {
	data, err := json.MarshalIndent(profileFile{Format: ProfileFormat, Profile: p}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing engine profile %q: %w", p.Name, err)
	}
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("writing engine profile %q: %w", p.Name, err)
	}
	return nil
}

// ReadProfile reads a profile file and checks it: no unknown field, every figure
// possible (Validate) and none better than physics allows (CheckPhysics). An
// unknown KV capacity, kv_blocks 0 or null, is accepted; New refuses it.
func ReadProfile(r io.Reader) (Profile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProfileBytes+1))
	if err != nil {
		return Profile{}, fmt.Errorf("reading an engine profile: %w", err)
	}
	if len(data) > maxProfileBytes {
		return Profile{}, fmt.Errorf("not an engine profile: larger than %d bytes", maxProfileBytes)
	}
	var f profileFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Profile{}, fmt.Errorf("not an engine profile: line %d: %w", lineOf(data, err, d.InputOffset()), err)
	}
	if f.Format != ProfileFormat {
		return Profile{}, fmt.Errorf("not an engine profile: its format is %q, want %q; benchlab calibrate writes such files",
			f.Format, ProfileFormat)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Profile{}, fmt.Errorf("not an engine profile: line %d: more than one JSON value", lineOf(data, nil, d.InputOffset()))
	}
	return f.Profile, f.Profile.checkFile()
}

// checkFile checks all but that the KV capacity is known.
func (p *Profile) checkFile() error {
	if p.Name == "" || p.GPUs < 1 {
		return fmt.Errorf("engine profile %q: name is empty or gpus is %d, want 1 or more", p.Name, p.GPUs)
	}
	q := *p
	if q.KVBlocks == 0 {
		q.KVBlocks = 1
	}
	if err := q.Validate(); err != nil {
		return err
	}
	return p.CheckPhysics()
}

// lineOf is the line of a decoding error, from 1.
func lineOf(data []byte, err error, offset int64) int {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &wrong):
		offset = wrong.Offset
	}
	return 1 + bytes.Count(data[:min(max(0, offset), int64(len(data)))], []byte("\n"))
}

// AssumeKVBlocks returns the profile with an assumed KV capacity, and says so in
// its source.
func (p Profile) AssumeKVBlocks(blocks int) Profile {
	p.KVBlocks = blocks
	p.Source += fmt.Sprintf("; ASSUMED: %d KV blocks", blocks)
	return p
}

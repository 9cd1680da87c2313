package main

import "testing"

func TestCores(t *testing.T) {
	then, err := parseCores([]byte("cpu  100 20 3 400 5 0 6 10 7 8\ncpu0 1 2 3\n"))
	if err != nil || then != (cores{544, 10}) {
		t.Errorf("%+v, %v", then, err)
	}
	now, err := parseCores([]byte("cpu  150 20 3 400 5 0 6 60 7 8\n"))
	if share := now.since(then); err != nil || share != 0.5 {
		t.Errorf("%v, %v, want a half", share, err)
	}
	if share := now.since(now); share != 0 {
		t.Errorf("%v within no time", share)
	}
	for _, text := range []string{"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu 1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"} {
		if c, err := parseCores([]byte(text)); err == nil {
			t.Errorf("%q: %+v without an error", text, c)
		}
	}
}

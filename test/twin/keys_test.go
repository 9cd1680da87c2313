package main

import (
	"testing"

	"gatewayd/pkg/router"
)

func TestUnmix(t *testing.T) {
	for x := range uint64(1000) {
		x *= 0x123456789abcdef
		if unmix(router.Mix(x)) != x || router.Mix(unmix(x)) != x {
			t.Fatalf("not inverse at %#x", x)
		}
	}
}

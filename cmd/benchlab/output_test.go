package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFailedRunLeavesOldResult(t *testing.T) {
	dir := t.TempDir()
	old, link := filepath.Join(dir, "old.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(old, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{old, link, filepath.Join(dir, "new.json")} {
		o, err := program{}.openOutput(name)
		if err != nil {
			t.Fatal(err)
		}
		o.json.Write([]byte("half of a result"))
		o.discard()
	}
	if b, err := os.ReadFile(link); err != nil || string(b) != "keep" {
		t.Errorf("after a failed run the old result is %q, %v", b, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("a failed run left %v", left)
	}
}

func TestDevicesAreWrittenDirectly(t *testing.T) {
	o, err := program{}.openOutput(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	o.discard()
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is now %v, %v", info, err)
	}
}

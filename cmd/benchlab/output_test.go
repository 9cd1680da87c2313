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
		f, err := openFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte("half of a result"))
		f.discard()
	}
	if b, err := os.ReadFile(link); err != nil || string(b) != "keep" {
		t.Errorf("after a failed run the old result is %q, %v", b, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("a failed run left %v", left)
	}
}

func TestCompleteFileReplacesOldOne(t *testing.T) {
	dir := t.TempDir()
	old, link := filepath.Join(dir, "old.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(link)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("new"))
	if err := f.keep(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(old)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want its old mode", info, err)
	}
	if b, _ := os.ReadFile(old); string(b) != "new" {
		t.Errorf("the file holds %q", b)
	}
}

func TestDevicesAreWrittenDirectly(t *testing.T) {
	f, err := openFile(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.discard()
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is now %v, %v", info, err)
	}
}

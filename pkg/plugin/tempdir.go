package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	dirPrefix = "gatewayd-plugin-"
	newPrefix = "gatewayd-new-"
	// maxBase keeps the path of a socket below the 104 to 108 bytes that
	// systems allow, with the names that go-plugin adds.
	maxBase = 40
)

// tempDir is a process's private directory for its socket and temporary files.
// It is locked while its host lives, so that the next host can tell that it was
// left behind when host and plugin were killed at once.
type tempDir struct {
	path string
	lock *os.File
}

func newTempDir() (*tempDir, error) {
	base := os.TempDir()
	if len(base) > maxBase {
		base = "/tmp"
	}
	sweep(base)
	// It gets the name that sweepers look for when it is locked already.
	path, err := os.MkdirTemp(base, newPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for the plugin's socket: %w", err)
	}
	lock, err := lockDir(path)
	if err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("lock the plugin's directory: %w", err)
	}
	d := &tempDir{path: filepath.Join(base, dirPrefix+strings.TrimPrefix(filepath.Base(path), newPrefix)), lock: lock}
	if err := os.Rename(path, d.path); err != nil {
		_ = os.Remove(path)
		_ = lock.Close()
		return nil, fmt.Errorf("name the plugin's directory: %w", err)
	}
	return d, nil
}

func (d *tempDir) remove() {
	_ = os.RemoveAll(d.path)
	_ = d.lock.Close()
}

// sweep removes the directories in base that no living host holds.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		if lock, err := lockDir(path); err == nil {
			_ = os.RemoveAll(path)
			_ = lock.Close()
		}
	}
}

// lockDir takes the directory's lock without waiting; closing the file, or the
// end of the process, gives it back.
func lockDir(path string) (*os.File, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = dir.Close()
		return nil, err
	}
	return dir, nil
}

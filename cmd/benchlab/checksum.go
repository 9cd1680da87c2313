package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gatewayd/benchlab/report"
	"gatewayd/pkg/plugin"
)

// checksummed says which executable a path means.
func checksummed(path string) (report.Program, error) {
	file, err := plugin.Resolve(path, nil)
	if err != nil {
		return report.Program{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return report.Program{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return report.Program{}, err
	}
	return report.Program{Path: path, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// notFolder is an error if a path means a folder.
func notFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; give the plugin executable in it, as %s", path, filepath.Join(path, "NAME"))
	}
	return nil
}

package plugin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Resolve finds the executable of a strategy: a path (with a slash) is taken as
// it is, a name is looked for in dirs, in order. It returns an absolute path.
// The error wraps fs.ErrNotExist when there is no such file, and
// fs.ErrPermission when it is not executable.
func Resolve(nameOrPath string, dirs []string) (string, error) {
	candidates := []string{nameOrPath}
	if !strings.Contains(nameOrPath, "/") {
		candidates = nil
		for _, dir := range dirs {
			candidates = append(candidates, filepath.Join(dir, nameOrPath))
		}
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return "", fmt.Errorf("plugin %s: %s is not an executable file: %w", nameOrPath, path, fs.ErrPermission)
		}
		return filepath.Abs(path)
	}
	if strings.Contains(nameOrPath, "/") {
		return "", fmt.Errorf("plugin %s: %w", nameOrPath, fs.ErrNotExist)
	}
	return "", fmt.Errorf("plugin %s: no such file in the plugin directories (%s): %w",
		nameOrPath, strings.Join(dirs, ", "), fs.ErrNotExist)
}

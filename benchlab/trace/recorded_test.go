package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedFilesAreThoseOfTheReadme holds the files to the list of checksums.
func TestRecordedFilesAreThoseOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("testdata/recorded/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/recorded/*.gz")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if !strings.Contains(string(readme), "| `"+hex.EncodeToString(sum[:])+"` | `"+filepath.Base(file)+"` |") {
			t.Errorf("the list does not have %s with %x", file, sum)
		}
	}
}

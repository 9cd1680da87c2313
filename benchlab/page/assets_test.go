package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

// TestLibraries holds that the scripts of others are the files that they
// published, carry their licence and can stand inside a page.
func TestLibraries(t *testing.T) {
	for _, l := range libraries() {
		text := asset(l.path())
		sum := sha256.Sum256([]byte(text))
		if got := hex.EncodeToString(sum[:]); got != l.sha256 {
			t.Errorf("%s has the checksum %s, want %s: take the file from the package %s@%s as it is", l.path(), got, l.sha256, l.name, l.version)
		}
		if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, "v"+l.version) {
			t.Errorf("%s begins with %q, not with the version %s", l.path(), first, l.version)
		}
		licence := asset("assets/" + l.folder + "/LICENSE")
		if l.licence != "ISC" || !strings.Contains(licence, "Permission to use, copy, modify, and/or distribute") {
			t.Errorf("%s: the licence beside it is not %s", l.path(), l.licence)
		}
	}
}

// TestScripts holds that no script ends early, and that the policy allows each
// and no other.
func TestScripts(t *testing.T) {
	all, policy := scripts()
	page := html(t, Comparison(example()))
	for i, s := range all {
		if s == "" || strings.Contains(strings.ToLower(string(s)), "</script") || strings.Contains(string(s), "<!--") {
			t.Errorf("script %d is empty or cannot stand inside a page", i)
		}
		if strings.Count(page, "<script>"+string(s)+"</script>") != 1 {
			t.Errorf("script %d does not stand in the page as it is", i)
		}
		sum := sha256.Sum256([]byte(s))
		if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy does not allow script %d", i)
		}
	}
	if got := strings.Count(policy, "sha256-"); got != len(all) {
		t.Errorf("the policy allows %d scripts, there are %d", got, len(all))
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(page, `http-equiv="Content-Security-Policy"`) {
		t.Error("the page lets requests leave")
	}
}

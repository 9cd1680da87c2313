package repo

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// maxLines is the most lines that a file of hand-written Go may have.
const maxLines = 400

//go:embed words.txt
var wordsText string

// size finds files too long to be read in one go.
func size(t *tree, report report) {
	for f := range t.code() {
		if n := bytes.Count(f.text, []byte("\n")); n > maxLines && !ast.IsGenerated(f.code) {
			report(f.path, fmt.Sprintf("%d lines; the most is %d: split it by what its parts do", n, maxLines))
		}
	}
}

// words finds what words.txt forbids.
func words(t *tree, report report) {
	for rule := range strings.Lines(wordsText) {
		pattern, reason, ok := strings.Cut(strings.TrimSpace(rule), "\t")
		if !ok {
			continue // a comment or a blank line
		}
		forbidden := regexp.MustCompile(pattern)
		for _, f := range t.files {
			if f.path == "internal/repo/words.txt" || f.path == "go.sum" {
				continue
			}
			for _, at := range forbidden.FindAllIndex(f.text, -1) {
				report(f.line(at[1]-1), fmt.Sprintf("%q: %s", f.text[at[0]:at[1]], strings.TrimSpace(reason)))
			}
		}
	}
}

// sleep finds tests that wait for time to pass.
func sleep(t *tree, report report) {
	for f := range t.code() {
		for pos, name := range f.uses() {
			if f.test() && name == "time.Sleep" {
				report(t.at(pos), "a test must not sleep: wait for what it waits for, on a channel or in virtual time")
			}
		}
	}
}

// link matches what a page refers to: [text](target), [name]: target, src= and
// href= of HTML. Fences and code spans are blanked before.
var (
	link = regexp.MustCompile(`\]\(<?([^)\s>]+)|(?m:^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+))|(?:src|href)="([^"]+)"`)
	code = regexp.MustCompile("(?ms:^ *```.*?^ *```[ \t]*$)|`[^`\n]+`")
)

// links finds relative links in Markdown that lead nowhere.
func links(t *tree, report report) {
	for _, f := range t.files {
		if path.Ext(f.path) != ".md" {
			continue
		}
		text := code.ReplaceAllFunc(f.text, func(b []byte) []byte {
			return bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n")))
		})
		f.text = text
		for _, m := range link.FindAllSubmatchIndex(text, -1) {
			for i := 2; i < len(m); i += 2 {
				if m[i] < 0 {
					continue
				}
				if target := string(text[m[i]:m[i+1]]); !t.leads(f, target) {
					report(f.line(m[i]), "nothing is at "+target)
				}
			}
		}
	}
}

// leads reports whether a link in f is to a file or folder of the repository,
// or not relative at all.
func (t *tree) leads(f file, target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	if u.IsAbs() || u.Host != "" || u.Path == "" {
		return true
	}
	_, err = fs.Stat(t.root, path.Join(f.dir(), u.Path))
	return err == nil
}

// line names the line of f that an offset lies in.
func (f file) line(offset int) string {
	return fmt.Sprintf("%s:%d", f.path, 1+bytes.Count(f.text[:offset], []byte("\n")))
}

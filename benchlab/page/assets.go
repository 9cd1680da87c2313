package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed assets
var assets embed.FS

// library is a file of another project, carried as it was published.
type library struct {
	name    string // as npm knows it
	version string
	licence string // SPDX
	folder  string // in assets, with its LICENSE beside the file
	file    string
	sha256  string // of the file
}

// libraries returns what draws the charts, in the order that it is loaded.
// Plot names the version of D3 that it was built for.
func libraries() []library {
	return []library{
		{"d3", "7.9.0", "ISC", "d3", "d3.min.js", "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"},
		{"@observablehq/plot", "0.6.17", "ISC", "plot", "plot.umd.min.js", "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb"},
	}
}

func (l library) path() string { return "assets/" + l.folder + "/" + l.file }

// asset returns an embedded file.
func asset(path string) string {
	text, err := assets.ReadFile(path)
	if err != nil {
		return "" // not embedded, which a test would have found
	}
	return string(text)
}

// scripts returns all that the page runs, and the policy that lets exactly this
// run and nothing be loaded.
func scripts() (all []template.JS, policy string) {
	var sources []string
	add := func(path string) {
		text := asset(path)
		sum := sha256.Sum256([]byte(text))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		all = append(all, template.JS(text))
	}
	for _, l := range libraries() {
		add(l.path())
	}
	add("assets/page.js")
	return all, "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + strings.Join(sources, " ")
}

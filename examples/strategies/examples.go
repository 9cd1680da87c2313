// Package examples holds strategies to read and to begin from: gatewayd plugin
// new makes a project of one of them.
package examples

import "embed"

// Names of the examples that projects begin from.
const (
	Go     = "least-work"
	Python = "by-length"
)

// Files are the files of these examples, each in a folder of its name.
//
//go:embed least-work/*.go by-length/*.py by-length/by-length by-length/requirements.txt
var Files embed.FS

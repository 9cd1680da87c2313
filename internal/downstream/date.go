package downstream

import (
	"net/http"
	"sync/atomic"
	"time"
)

// today is a date as it is written in heads.
type today struct {
	second int64
	text   string
}

var now atomic.Pointer[today]

// date returns the time of day as a Date field has it.
func date() string {
	t := time.Now()
	if d := now.Load(); d != nil && d.second == t.Unix() {
		return d.text
	}
	d := &today{second: t.Unix(), text: t.UTC().Format(http.TimeFormat)}
	now.Store(d)
	return d.text
}

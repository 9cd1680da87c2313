// Package page makes a report that people read in a browser: one HTML file that
// needs no network, in light, dark and on paper. Equal results give equal bytes.
//
// A Page is plain data: sections of text, tables and charts. Write turns it into
// HTML; the charts are drawn in the browser by Observable Plot on D3, which lie
// verbatim in assets and travel inside the file. A content security policy lets
// exactly these scripts run and no request leave.
//
// Reading order: page.go and chart.go (the form), write.go (to HTML), assets.go,
// then comparison.go (from a benchlab result), summary.go and the other files,
// which each make one section. assets/page.js draws.
package page

//go:build !race

package calibrate

const raced = false

//go:build !race

package study

const raced = false

#!/usr/bin/env bash
# Rewrites the expected output of the tests that can: with -rewrite those on
# datadriven, with -update those that define the flag.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# rewrite FLAG PATTERN runs the packages whose tests contain the pattern.
rewrite() {
  local folders
  mapfile -t folders < <(grep -rlE --include='*_test.go' "$2" . | xargs -r -n 1 dirname | sort -u)
  [[ ${#folders[@]} == 0 ]] || go test -count=1 "${folders[@]}" "$1"
}

rewrite -rewrite 'datadriven\.(RunTest|Walk)'
rewrite -update 'flag\.Bool\("update"'

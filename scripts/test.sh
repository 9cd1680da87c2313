#!/usr/bin/env bash
# Runs the parts named as arguments, by default all that CI runs, and prints the
# time that each took. A part that fails shows its output; the others still run.
#
# Parts: needs, format, vet, staticcheck, build, unit (quick), race (all tests of
# Go), plain (what the race detector makes too slow), browser (opens what benchlab
# reports), clients (the OpenAI clients against the demo); the last two after build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export HOME="${HOME:-$(unset HOME && echo ~)}" # Go keeps its caches there
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# needs installs what the tests run beside Go, or says how to.
needs() {
  local missing=()
  command -v redis-server >/dev/null || missing+=(redis-server)
  command -v chromium >/dev/null || missing+=(chromium)
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  command -v curl >/dev/null || missing+=(curl)
  python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
  echo '#include <stdlib.h>
        int main(void) { return EXIT_SUCCESS; }' |
    $(go env CC) -x c -o /dev/null - 2>/dev/null || missing+=(gcc libc6-dev)
  if [[ ${#missing[@]} == 0 ]]; then
    return 0
  fi
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "The tests need ${missing[*]}. On Debian or Ubuntu, run"
    echo "    sudo apt-get update && sudo apt-get install -y ${missing[*]}"
    echo "then try again."
    return 1
  fi
  echo "installing ${missing[*]} with apt-get"
  local apt=(apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o DPkg::Lock::Timeout=120)
  export DEBIAN_FRONTEND=noninteractive
  timeout 300 "${apt[@]}" update >"$log" 2>&1 &&
    timeout 600 "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    { cat "$log"; echo "apt-get could not install ${missing[*]}."; return 1; }
}

format() {
  local unformatted
  unformatted=$("$(go env GOROOT)/bin/gofmt" -l .) || return 1
  [[ -z $unformatted ]] || { echo "gofmt -w these files:"; echo "$unformatted"; return 1; }
}

vet() { go vet ./...; }
staticcheck() { go tool staticcheck ./...; }
build() { make build; }
unit() { go test -short -timeout 5m ./...; }
browser() { test/browser/run.sh; }
clients() { test/clients/run.sh; }
race() { CGO_ENABLED=1 go test -race -count=1 -timeout 25m ./...; }

# plain runs the packages that leave work out under the race detector: they say so
# with their constant raced.
plain() {
  local packages
  mapfile -t packages < <(grep -rl --include='*.go' '^const raced = true' . | xargs -r -n 1 dirname)
  [[ ${#packages[@]} -gt 0 ]] || { echo "no package has a constant raced"; return 1; }
  go test -count=1 -timeout 15m "${packages[@]}"
}

# show passes output on, less lines without news and this folder's path.
show() { sed -u -e '/\[no test files\]$/d' -e "s#$PWD/##g"; }

# run runs a part. Tests are shown as they go, others when they fail.
run() {
  case $1 in
    needs) needs ;;
    unit | race | plain) "$1" 2>&1 | show ;;
    *) "$1" >"$log" 2>&1 || { show <"$log"; return 1; } ;;
  esac
}

parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(needs format vet staticcheck build race plain browser clients)
command -v go >/dev/null || { echo "go is not on the PATH; install Go 1.26 or later from https://go.dev/dl"; exit 1; }

table=$(printf '%-12s %8s  %s' part seconds result)
failed=()
for part in "${parts[@]}"; do
  echo "== $part"
  began=${EPOCHREALTIME/[.,]/}
  result=passed
  run "$part" || { result=FAILED; failed+=("$part"); }
  took=$(((${EPOCHREALTIME/[.,]/} - began) / 100000))
  table+=$(printf '\n%-12s %6d.%d  %s' "$part" $((took / 10)) $((took % 10)) "$result")
  [[ $part != needs || $result == passed ]] || break
done

printf '\n%s\n' "$table"
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]}"
  exit 1
fi

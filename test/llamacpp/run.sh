#!/usr/bin/env bash
# gatewayd in front of two real llama.cpp servers, checked and measured with real requests.
#
#   test/llamacpp/run.sh            install what is missing, start two workers and gateways, check
#   test/llamacpp/run.sh --direct   the same checks on one worker, without a gateway
#
# Environment: LLAMACPP_CACHE (cache folder), GATEWAYD (gateway binary, bin/gatewayd).
# README.md beside this file says what is checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cache=${LLAMACPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gatewayd/llamacpp}
gatewayd=${GATEWAYD:-../../bin/gatewayd}
mode=${1:---gateway}
python=$cache/venv/bin/python

say() { echo "llamacpp: $*" >&2; }
die() { say "$*"; exit 1; }

case $mode in
  --gateway) [[ -x $gatewayd ]] || die "$gatewayd is missing; run make build first, or use --direct" ;;
  --direct) ;;
  *) die "unknown argument $mode; use --direct or none" ;;
esac

# The Python environment, built once for each requirements.txt.
if ! cmp -s requirements.txt "$cache/built" || ! "$python" -c 'import gguf, xllamacpp'; then
  say "installing llama.cpp in $cache"
  rm -rf "$cache/venv" "$cache/built"
  mkdir -p "$cache"
  python3 -m venv "$cache/venv" || die "python cannot make a venv (apt-get install python3-venv)"
  timeout 600 "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r requirements.txt
  cp requirements.txt "$cache/built"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/gatewayd-llamacpp.XXXXXX")
pids=()
stop() { # ends what was started here, by process id, and says when it would not go
  local code=$? pid i
  trap - EXIT INT TERM
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do
    for ((i = 0; i < 100; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    if kill -0 "$pid" 2>/dev/null; then say "process $pid did not stop within 10 s; killed"; kill -9 "$pid" || true; fi
    wait "$pid" 2>/dev/null || true
  done
  if [[ $code != 0 ]]; then
    tail -n 20 "$work"/*.log >&2 || true
    say "logs are kept in $work"
  else
    rm -rf "$work"
  fi
  exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export XDG_CONFIG_HOME=$work/.config NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# said FILE PATTERN: waits until the last process says what matches, and prints that.
said() {
  local i
  for ((i = 0; i < 1200; i++)); do
    grep -oE -m 1 "$2" "$1" && return
    kill -0 "${pids[-1]}" 2>/dev/null || die "it ended before it was ready: $1"
    sleep 0.1
  done
  die "nothing in $1 matches $2 after two minutes"
}

"$python" model.py "$work/tiny.gguf" 2>"$work/model.log"
workers=()
for i in 1 2; do
  "$python" worker.py "$work/tiny.gguf" >"$work/worker$i.out" 2>"$work/worker$i.log" &
  pids+=($!)
  workers+=("$(said "$work/worker$i.out" 'http://[0-9.:]+')")
done

# gateway NAME PLUGIN...: starts a gateway before both workers and sets url.
gateway() {
  local name=$1 flags=() plugin
  shift
  for plugin in "$@"; do flags+=(--plugin "$plugin"); done
  "$gatewayd" serve --worker "${workers[0]}" --worker "${workers[1]}" "${flags[@]}" \
    --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --log-format json >"$work/$name.log" 2>&1 &
  pids+=($!)
  url=$(said "$work/$name.log" '"api":"http://[0-9.:]+' | grep -oE 'http://.*')
  URL=$url timeout 60 "$python" -c '
import os, time, urllib.request
while True:
    try:
        urllib.request.urlopen(os.environ["URL"] + "/readyz", timeout=2)
        break
    except OSError:
        time.sleep(0.1)'
}

if [[ $mode == --direct ]]; then
  "$python" checks.py "${workers[0]}" "${workers[0]}"
  exit
fi
gateway chain cacheroute sticky joule
"$python" checks.py "$url" "${workers[@]}"
named=()
for strategy in round-robin sticky cacheroute; do
  gateway "$strategy" "$strategy"
  named+=("$strategy=$url")
done
echo
"$python" routing.py "${named[@]}"

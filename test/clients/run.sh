#!/usr/bin/env bash
# The official OpenAI clients for Python and Node, and the curl lines of the pages,
# against `gatewayd demo`. Needs bin/gatewayd, curl, node, npm, and python3 with venv.
#
# Environment: BIN (folder of gatewayd, bin), CLIENTS_CACHE (cache folder).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

bin=${BIN:-../../bin}
cache=${CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gatewayd/clients}
[[ -x $bin/gatewayd ]] || { echo "$bin/gatewayd is not there; run make build"; exit 1; }

# The Python environment, built once for each requirements.txt.
if ! cmp -s requirements.txt "$cache/built" || ! "$cache/venv/bin/python" -c 'import openai'; then
  rm -rf "$cache/venv" "$cache/built"
  mkdir -p "$cache"
  python3 -m venv "$cache/venv"
  timeout 300 "$cache/venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
  cp requirements.txt "$cache/built"
fi
timeout 180 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

work=$(mktemp -d "${TMPDIR:-/tmp}/gatewayd-clients.XXXXXX")
pids=()
stop() { # ends what was started here, by process id
  local code=$? pid
  trap - EXIT INT TERM
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  if [[ $code != 0 ]]; then tail -n 40 "$work"/*.log; fi
  rm -rf "$work"
  exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The admin tokens and ~ of the pages lie in the work folder.
export HOME=$work XDG_CONFIG_HOME=$work/.config NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# said FILE PATTERN: waits until the last process says what matches, and prints that.
said() {
  local i
  for ((i = 0; i < 1200; i++)); do
    grep -oE -m 1 "$2" "$1" && return
    kill -0 "${pids[-1]}" 2>/dev/null || { echo "it ended before it was ready" >&2; return 1; }
    sleep 0.1
  done
  echo "nothing in $1 matches $2 after two minutes" >&2
  return 1
}

"$bin/gatewayd" demo --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 >"$work/demo.log" 2>&1 &
pids+=($!)
said "$work/demo.log" 'Ctrl-C stops everything' >/dev/null
at() { said "$work/demo.log" "^$1 +http://[0-9.:]+" | grep -oE 'http://.*'; }
DEMO=$(at gateway) ADMIN=$(at admin) WORKER=$(at worker-1)
export DEMO ADMIN

# A second gateway ends all requests after a second.
cat >"$work/hurried.json" <<JSON
{"listen": "127.0.0.1:0", "admin_listen": "", "workers": [{"url": "$WORKER"}], "strategies": ["sticky"],
 "timeouts": {"total": "1s"}, "probe": {"successes": 1}, "log": {"format": "json"}}
JSON
"$bin/gatewayd" serve --config "$work/hurried.json" >"$work/hurried.log" 2>&1 &
pids+=($!)
HURRIED=$(said "$work/hurried.log" '"api":"http://[0-9.:]+' | grep -oE 'http://.*')
export HURRIED
timeout 120 bash -c 'until curl -fs "$HURRIED/readyz" >/dev/null; do sleep 0.1; done'

timeout 300 "$cache/venv/bin/python" -m unittest -v openai_test pages_test
timeout 300 node --test --test-reporter=spec openai.test.mjs

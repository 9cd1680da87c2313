#!/usr/bin/env bash
# gatewayd in front of two real llama.cpp servers, checked with real requests.
#
#   test/llamacpp/run.sh              build what is missing, start two workers and bin/gatewayd, check
#   test/llamacpp/run.sh --direct     the same checks on one worker, without a gateway
#   BASE_URL=URL test/llamacpp/run.sh the same checks on a server that runs already (add --gateway if it is gatewayd)
#
# Environment: LLAMACPP_CACHE (cache folder), LLAMACPP_JOBS (compiler processes, 1), LLAMACPP_PYTHON (python3),
# GATEWAYD (gateway binary, bin/gatewayd). README.md beside this file says what is needed and how long it takes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${LLAMACPP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gatewayd/llamacpp}
jobs=${LLAMACPP_JOBS:-1}
python=${LLAMACPP_PYTHON:-python3}
gatewayd=${GATEWAYD:-$here/../../bin/gatewayd}
mode=${1:---gateway}

say() { echo "llamacpp: $*" >&2; }
die() { say "$*"; exit 1; }

case $mode in
  --gateway | --direct) ;;
  *) die "unknown argument $mode; use --direct or none" ;;
esac
if [ -n "${BASE_URL:-}" ]; then
  if [ "${1:-}" = --gateway ]; then exec "$python" "$here/checks.py" "$BASE_URL" --gateway; fi
  exec "$python" "$here/checks.py" "$BASE_URL"
fi
if [ "$mode" = --gateway ] && [ ! -x "$gatewayd" ]; then die "$gatewayd is missing; run make build first, or use --direct"; fi

# --- the Python environment, built once for each requirements.txt
build() {
  for tool in cc c++; do command -v "$tool" >/dev/null || die "no $tool; install a C++ compiler (apt-get install g++)"; done
  say "building in $cache with $jobs compiler processes; takes minutes (log: $cache/build.log)"
  local start=$SECONDS
  mkdir -p "$cache"
  rm -rf "$cache/venv" "$cache/built"
  "$python" -m venv "$cache/venv" || die "python cannot make a venv (apt-get install python3-venv)"
  # Without the multimodal library, for any CPU of this architecture, and lightly optimised: it compiles in half
  # the time, and the model is tiny.
  if ! CMAKE_BUILD_PARALLEL_LEVEL=$jobs MAKEFLAGS=-j$jobs \
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1" \
    nice -n 15 "$cache/venv/bin/pip" install --disable-pip-version-check -r "$here/requirements.txt" >"$cache/build.log" 2>&1; then
    tail -n 30 "$cache/build.log" >&2
    die "pip failed; the whole log is $cache/build.log"
  fi
  cp "$here/requirements.txt" "$cache/built"
  say "built in $((SECONDS - start)) s"
}
cmp -s "$here/requirements.txt" "$cache/built" || build
venv=$cache/venv/bin/python

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
  if [ "$code" -ne 0 ]; then
    for log in "$work"/*.log; do [ -e "$log" ] && { echo "--- $log"; tail -n 20 "$log"; } >&2; done
    say "logs are kept in $work"
  else
    rm -rf "$work"
  fi
  exit "$code"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$venv" "$here/model.py" "$work/tiny.gguf" >&2
read -r -a ports < <("$python" - <<'PY'
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(s.getsockname()[1] for s in held))
PY
)

ready() { # pid, url, name: polls until the url answers 200
  local i
  for ((i = 0; i < 600; i++)); do
    kill -0 "$1" 2>/dev/null || die "$3 ended before it was ready"
    "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$2" 2>/dev/null && return
    sleep 0.1
  done
  die "$3 was not ready after a minute: $2"
}

for i in 0 1; do
  # One request at a time is what this server can do; --interrupt_requests false makes the next one wait, where the
  # default would cut a running stream.
  "$venv" -m llama_cpp.server --model "$work/tiny.gguf" --model_alias tiny --n_ctx 4096 --n_threads 1 \
    --n_threads_batch 1 --cache true --cache_size 67108864 --interrupt_requests false --use_mlock false \
    --host 127.0.0.1 --port "${ports[$i]}" >"$work/worker$i.log" 2>&1 &
  pids+=($!)
done
for i in 0 1; do ready "${pids[$i]}" "http://127.0.0.1:${ports[$i]}/v1/models" "worker $i"; done

url=http://127.0.0.1:${ports[0]}
flags=()
if [ "$mode" = --gateway ]; then
  url=http://127.0.0.1:${ports[2]}
  "$gatewayd" serve --worker "http://127.0.0.1:${ports[0]}" --worker "http://127.0.0.1:${ports[1]}" \
    --plugin cacheroute --plugin sticky --plugin joule --listen "127.0.0.1:${ports[2]}" >"$work/gatewayd.log" 2>&1 &
  pids+=($!)
  ready "${pids[2]}" "$url/readyz" gatewayd
  flags=(--gateway)
fi
"$python" "$here/checks.py" "$url" "${flags[@]}"

# What llama.cpp itself says about its KV cache.
for i in 0 1; do
  awk -v w="$i" '/prefix-match hit/ { for (k = 1; k < NF; k++) { if ($(k+1) == "prefix-match") hit += $k; if ($k == "remaining") rest += $(k+1) } }
    END { if (hit + rest) printf "worker %d: %d prompt tokens on cached prefixes: %d reused, %d computed\n", w, hit + rest, hit, rest }' "$work/worker$i.log"
done

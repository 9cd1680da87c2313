#!/usr/bin/env bash
# Opens benchlab's reports in Chromium; needs bin/benchlab, node, npm and
# chromium. Screenshots are kept in $OUT, if it is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

[[ -x ${BENCHLAB:-../../bin/benchlab} ]] || { echo "bin/benchlab is not there; run make build"; exit 1; }
timeout 180 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
CHROMIUM=${CHROMIUM:-$(command -v chromium)} || { echo "chromium is not on the PATH; install it or set CHROMIUM"; exit 1; }
export CHROMIUM
timeout 600 node --test --test-reporter=spec report.test.mjs

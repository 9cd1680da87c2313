"""Run llama.cpp's server on a free port of 127.0.0.1 until SIGTERM; print its URL.

    python worker.py MODEL

It has a KV cache for SLOTS sequences and keeps no others, as a GPU whose memory is full.
"""

import signal
import sys

import xllamacpp

SLOTS, CONTEXT = 6, 4096


def main(model):
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before the server's threads begin
    p = xllamacpp.CommonParams()
    p.model.path, p.model_alias = model, {"tiny"}
    p.hostnames, p.port = ["127.0.0.1"], 0
    p.n_parallel, p.n_ctx, p.kv_unified = SLOTS, SLOTS * CONTEXT, False
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.cache_ram_mib, p.endpoint_metrics = 0, True
    server = xllamacpp.Server(p)
    print("serving on", server.listening_address, flush=True)
    signal.sigwait(ends)


if __name__ == "__main__":
    main(sys.argv[1])

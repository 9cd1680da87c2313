"""Check llama.cpp, alone or behind gatewayd; print a table.

    python3 checks.py URL WORKER...   URL is the one worker, or gatewayd before several

Exit status 0 when all checks hold, 1 otherwise. Latencies are printed, never judged.
"""

import json
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from client import WORKER_HEADER, Server, metric, require

SESSIONS, TURNS, PARALLEL = 16, 4, 8
MIXED = 200
SYSTEM = "You are a helpful assistant who answers in few words. " * 8
HELLO = [{"role": "user", "content": "Say hello."}]


def models(s):
    listing = s.call("/v1/models").json()
    require(listing["object"] == "list" and [m["id"] for m in listing["data"]] == [s.model], f"models are {listing}")
    return f"serves {s.model}"


def usage_adds_up(usage, tokens):
    require(usage["completion_tokens"] == tokens, f"{usage['completion_tokens']} tokens, asked for {tokens}")
    require(usage["prompt_tokens"] > 0, "no prompt tokens are counted")
    require(usage["total_tokens"] == usage["prompt_tokens"] + tokens, "usage does not add up")


def chat(s):
    answer = s.chat(HELLO).json()
    choice = answer["choices"][0]
    require(answer["object"] == "chat.completion" and answer["model"] == s.model, "wrong object or model")
    require(choice["message"]["role"] == "assistant" and choice["message"]["content"], "no answer")
    require(choice["finish_reason"] == "length", "wrong finish_reason")
    usage_adds_up(answer["usage"], 16)
    return "shape and usage are right"


def chat_stream(s):
    reply = s.chat(HELLO, stream=True)
    chunks = reply.events()
    require(not any(c.get("usage") for c in chunks), "there is usage that nobody asked for")
    chunks = [c for c in chunks if c["choices"]]
    require(all(c["object"] == "chat.completion.chunk" for c in chunks), "wrong object")
    require(chunks[0]["choices"][0]["delta"].get("role") == "assistant", "the first chunk has no role")
    require(chunks[-1]["choices"][0]["finish_reason"] == "length", "the last chunk has no finish_reason")
    text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks)
    require(text == s.chat(HELLO).json()["choices"][0]["message"]["content"], "streamed and whole answers differ")
    last = s.chat(HELLO, stream=True, stream_options={"include_usage": True}).events()[-1]
    usage_adds_up(last["usage"], 16)
    return f"{len(chunks)} chunks, first text after {reply.first_s * 1e3:.1f} ms"


def completions(s):
    body = {"model": s.model, "prompt": "Once upon a time", "max_tokens": 16, "temperature": 0}
    answer = s.call("/v1/completions", body).json()
    require(answer["object"] == "text_completion" and answer["choices"][0]["text"], "wrong object or no text")
    usage_adds_up(answer["usage"], 16)
    chunks = s.call("/v1/completions", body | {"stream": True}).events()
    text = "".join(c["choices"][0]["text"] for c in chunks if c["choices"])
    require(text == answer["choices"][0]["text"], "streamed and whole answers differ")
    return "whole and streamed agree"


def not_found(s):
    reply = s.call("/v1/no-such-endpoint", {})
    require(reply.status == 404 and json.loads(reply.body), f"status {reply.status}, want 404 with a JSON body")
    return "404 in JSON"


def cancel(s):
    asked = 3000
    predicted = lambda: sum(metric(w, "llamacpp:tokens_predicted_total") for w in s.workers)
    running = lambda: sum(metric(w, "llamacpp:requests_processing") for w in s.workers)
    before = predicted()
    with s.open("/v1/chat/completions", s.ask(HELLO, asked, stream=True)) as stream:
        require(stream.readline().startswith(b"data: "), "no event comes")
    end = time.monotonic() + 60
    while running() > 0 or predicted() == before:
        require(time.monotonic() < end, "the worker works on")
        time.sleep(0.02)
    made = predicted() - before
    require(made < asked / 2, f"{made:.0f} of {asked} tokens were made")
    return f"{made:.0f} of {asked} tokens were made"


def prefix_reuse(s):
    messages = [{"role": "user", "content": "A long prompt, which comes twice. " * 40}]
    first, second = (s.chat(messages, session="twice").json()["usage"] for _ in range(2))
    cached = second["prompt_tokens_details"]["cached_tokens"]
    require(cached > 0.9 * first["prompt_tokens"], f"{cached} of {first['prompt_tokens']} tokens were cached")
    return f"{cached} of {first['prompt_tokens']} tokens from the cache"


def mixed(s):
    """llama.cpp announces keep-alive and closes the connection behind a stream."""
    def one(i):
        reply = s.chat([{"role": "user", "content": f"Number {i}"}], tokens=4, stream=i % 2 == 0)
        return reply.events() if i % 2 == 0 else reply.json()
    with ThreadPoolExecutor(2 * PARALLEL) as pool:
        return f"{len(list(pool.map(one, range(MIXED))))} answers, half of them streamed"


def converse(s, name):
    """One session; the worker of each turn and the seconds it took."""
    messages, workers, times = [{"role": "system", "content": SYSTEM}], [], []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"I am {name}. This is turn {turn}: tell me more. " * 4})
        reply = s.chat(messages, session=name, tokens=24)
        messages.append(reply.json()["choices"][0]["message"])
        workers.append(reply.headers.get(WORKER_HEADER))
        times.append(reply.total_s)
    return workers, times


def judge_sessions(s, runs):
    first, later = [t[0] for _, t in runs], [x for _, t in runs for x in t[1:]]
    note = f"first turn {statistics.median(first) * 1e3:.1f} ms, later {statistics.median(later) * 1e3:.1f} ms (medians)"
    if s.gateway:
        moved = sum(len(set(w)) > 1 for w, _ in runs)
        require(moved == 0, f"{moved} of {len(runs)} sessions changed their worker")
        homes = Counter(w[0] for w, _ in runs)
        require(len(homes) > 1, f"all sessions are on {list(homes)[0]}")
        note += "; homes " + " ".join(f"{w}:{n}" for w, n in sorted(homes.items()))
    return note


def sessions(s):
    return judge_sessions(s, [converse(s, f"session-{i}") for i in range(SESSIONS)])


def parallel_sessions(s):
    with ThreadPoolExecutor(PARALLEL) as pool:
        return judge_sessions(s, list(pool.map(lambda i: converse(s, f"parallel-{i}"), range(SESSIONS))))


def main(url, *workers):
    s, failed = Server(url, gateway=list(workers) != [url]), 0
    s.workers = workers
    print(f"{'check':<18}{'result':<8}{'calls':>5}{'median ms':>11}{'max ms':>9}  note")
    for check in (models, chat, chat_stream, completions, not_found, cancel, prefix_reuse, mixed, sessions, parallel_sessions):
        s.calls = []
        try:
            result, note = "ok", check(s)
        except Exception as error:  # a wrong answer of any shape is a failed check, not the end
            result, note, failed = "FAILED", f"{type(error).__name__}: {error}", failed + 1
        ms = [c.total_s * 1e3 for c in s.calls] or [float("nan")]
        print(f"{check.__name__:<18}{result:<8}{len(s.calls):>5}{statistics.median(ms):>11.1f}{max(ms):>9.1f}  {note}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Check an OpenAI-compatible server, alone or behind gatewayd; print a table.

    python3 checks.py URL             a worker by itself
    python3 checks.py URL --gateway   gatewayd: also the worker header and session affinity

Standard library only. Exit status 0 when all checks hold, 1 otherwise. Latencies
are printed, never judged.
"""

import argparse
import json
import statistics
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

WORKER_HEADER = "x-gatewayd-worker"
TIMEOUT_S = 60
SESSIONS, TURNS, PARALLEL = 16, 4, 8
SYSTEM = "You are a helpful assistant who answers in few words. " * 8


def require(condition, message):
    if not condition:
        raise AssertionError(message)


class Reply:
    def __init__(self, status, headers, body, first_s, total_s):
        self.status, self.headers, self.body = status, headers, body
        self.first_s, self.total_s = first_s, total_s

    def json(self):
        require(self.status == 200, f"status {self.status}: {self.body[:200]!r}")
        require("application/json" in self.headers.get("content-type", ""), "content-type is not JSON")
        return json.loads(self.body)

    def events(self):
        """The chunks of a stream, which must end in [DONE]."""
        require(self.status == 200, f"status {self.status}: {self.body[:200]!r}")
        require("text/event-stream" in self.headers.get("content-type", ""), "content-type is not an event stream")
        data = [line[6:] for line in self.body.decode().splitlines() if line.startswith("data: ")]
        require(data and data[-1] == "[DONE]", "the stream does not end in [DONE]")
        chunks = [json.loads(d) for d in data[:-1]]
        require(len({c["id"] for c in chunks}) == 1, "the chunks have different ids")
        return chunks


class Server:
    def __init__(self, url, gateway):
        self.url, self.gateway, self.model, self.calls = url.rstrip("/"), gateway, None, []

    def call(self, path, body=None, session=None):
        headers = {"content-type": "application/json"}
        if session:
            headers["x-session-id"] = session
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        start = time.monotonic()
        try:
            response = urllib.request.urlopen(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            lines, first = [], None
            for line in response:
                lines.append(line)
                if first is None and (b'"content": "' in line or b'"text": "' in line):
                    first = time.monotonic() - start
        reply = Reply(response.status, {k.lower(): v for k, v in response.headers.items()},
                      b"".join(lines), first, time.monotonic() - start)
        self.calls.append(reply)
        if self.gateway and body is not None and reply.status == 200:
            require(reply.headers.get(WORKER_HEADER), f"no {WORKER_HEADER} header")
        return reply

    def chat(self, messages, stream=False, session=None, tokens=16):
        return self.call("/v1/chat/completions", session=session, body={
            "model": self.model, "messages": messages, "max_tokens": tokens, "temperature": 0, "stream": stream})


HELLO = [{"role": "user", "content": "Say hello."}]


def models(s):
    listing = s.call("/v1/models").json()
    require(listing["object"] == "list" and listing["data"], "no model is listed")
    s.model = listing["data"][0]["id"]
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
    chunks = [c for c in reply.events() if c["choices"]]
    require(all(c["object"] == "chat.completion.chunk" for c in chunks), "wrong object")
    require(chunks[0]["choices"][0]["delta"].get("role") == "assistant", "the first chunk has no role")
    require(chunks[-1]["choices"][0]["finish_reason"] == "length", "the last chunk has no finish_reason")
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks)
    require(text == s.chat(HELLO).json()["choices"][0]["message"]["content"], "streamed and whole answers differ")
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


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("url")
    args.add_argument("--gateway", action="store_true", help="the server is gatewayd")
    args = args.parse_args()
    s, failed = Server(args.url, args.gateway), 0
    print(f"{'check':<18}{'result':<8}{'calls':>5}{'median ms':>11}{'max ms':>9}  note")
    for check in (models, chat, chat_stream, completions, not_found, sessions, parallel_sessions):
        s.calls = []
        try:
            result, note = "ok", check(s)
        except Exception as error:  # a wrong answer of any shape is a failed check, not the end
            result, note, failed = "FAILED", f"{type(error).__name__}: {error}", failed + 1
        ms = [c.total_s * 1e3 for c in s.calls] or [float("nan")]
        print(f"{check.__name__:<18}{result:<8}{len(s.calls):>5}{statistics.median(ms):>11.1f}{max(ms):>9.1f}  {note}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

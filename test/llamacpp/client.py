"""A client of an OpenAI-compatible server, with the standard library only."""

import json
import time
import urllib.error
import urllib.request

WORKER_HEADER = "x-gatewayd-worker"
TIMEOUT_S = 120


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
    """A server, alone or, with gateway, behind gatewayd."""

    def __init__(self, url, gateway):
        self.url, self.gateway, self.model, self.calls = url.rstrip("/"), gateway, "tiny", []

    def open(self, path, body=None, session=None):
        headers = {"content-type": "application/json"}
        if session:
            headers["x-session-id"] = session
        data = None if body is None else json.dumps(body).encode()
        try:
            return urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            return error

    def call(self, path, body=None, session=None):
        start = time.monotonic()
        with self.open(path, body, session) as response:
            lines, first = [], None
            for line in response:
                lines.append(line)
                if first is None and speaks(line):
                    first = time.monotonic() - start
        reply = Reply(response.status, {k.lower(): v for k, v in response.headers.items()},
                      b"".join(lines), first, time.monotonic() - start)
        self.calls.append(reply)
        if self.gateway and body is not None and reply.status == 200:
            require(reply.headers.get(WORKER_HEADER), f"no {WORKER_HEADER} header")
        return reply

    def ask(self, messages, tokens, **more):
        return {"model": self.model, "messages": messages, "max_tokens": tokens, "temperature": 0} | more

    def chat(self, messages, session=None, tokens=16, **more):
        return self.call("/v1/chat/completions", self.ask(messages, tokens, **more), session)


def speaks(line):
    """Whether a line of a stream holds text of the answer."""
    if not line.startswith(b"data: {"):
        return False
    choices = json.loads(line[6:]).get("choices")
    return bool(choices) and bool(choices[0].get("text") or choices[0].get("delta", {}).get("content"))


def metric(worker, name):
    """What a worker's own metrics say of a name."""
    with urllib.request.urlopen(worker + "/metrics", timeout=TIMEOUT_S) as page:
        for line in page.read().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
    raise AssertionError(f"{worker} has no {name}")

"""The official OpenAI client for Python against gatewayd.

DEMO is the base URL of `gatewayd demo`, ADMIN that of its admin listener, HURRIED
that of a gateway in front of the same workers with timeouts.total of a second.
openai.test.mjs holds the same of the client for Node.
"""

import asyncio
import os
import re
import time
import unittest
import urllib.request

import openai

MODEL = "llama-3.1-8b"
HELLO = [{"role": "user", "content": "Why is the sky blue?"}]
LONG = 60_000  # tokens, which take minutes


def settings(gateway):
    return {"base_url": os.environ[gateway] + "/v1", "api_key": "none", "max_retries": 0, "timeout": 120}


def metric(name, label):
    """The sum of a metric's series that have the label."""
    with urllib.request.urlopen(os.environ["ADMIN"] + "/metrics", timeout=60) as page:
        series = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", page.read().decode(), re.MULTILINE)
    return sum(float(value) for labels, value in series if label in labels)


def text(chunks):
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


class Test(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(**settings("DEMO"))
        self.addCleanup(self.client.close)

    def chat(self, client=None, tokens=16, **more):
        return (client or self.client).chat.completions.create(model=MODEL, messages=HELLO, max_tokens=tokens, **more)

    def until(self, what, holds):
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}")
            time.sleep(0.05)

    def cancels(self, leave):
        """Runs leave, which must end a long request early, and waits until the gateway has ended it too."""
        before = metric("gatewayd_requests_total", 'outcome="cancelled"')
        leave()
        self.until("the cancelled request", lambda: metric("gatewayd_requests_total", 'outcome="cancelled"') == before + 1)
        self.until("the worker to be free", lambda: metric("gatewayd_in_flight", "worker") == 0)

    def test_models(self):
        self.assertEqual([m.id for m in self.client.models.list()], [MODEL])
        self.assertEqual(self.client.models.retrieve(MODEL).object, "model")

    def test_chat(self):
        raw = self.client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO, max_tokens=16)
        self.assertRegex(raw.headers["x-gatewayd-worker"], r"^worker-[1-4]$")
        self.assertTrue(raw.headers["x-gatewayd-strategy"])
        self.assertTrue(raw.headers["x-gatewayd-reason"])
        answer = raw.parse()
        self.assertEqual(answer._request_id, raw.headers["x-request-id"])
        self.assertEqual((answer.object, answer.model), ("chat.completion", MODEL))
        self.assertEqual((answer.choices[0].message.role, answer.choices[0].finish_reason), ("assistant", "length"))
        self.assertEqual(len(answer.choices[0].message.content.split()), 16)
        self.assertEqual(answer.usage.completion_tokens, 16)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 16)

    def test_stream(self):
        whole = self.chat().choices[0].message.content
        with self.chat(stream=True) as stream:
            chunks = list(stream)
        self.assertEqual(text(chunks), whole)
        self.assertEqual(len({c.id for c in chunks}), 1)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "length")
        self.assertEqual([c.usage for c in chunks if c.usage], [])

    def test_stream_with_usage(self):
        whole = self.chat()
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True}))
        self.assertEqual(text(chunks), whole.choices[0].message.content)
        self.assertEqual(chunks[-1].choices, [])
        counts = [(c.usage.prompt_tokens, c.usage.completion_tokens) for c in chunks if c.usage]
        self.assertEqual(counts, [(whole.usage.prompt_tokens, 16)])

    def test_completions(self):
        ask = {"model": MODEL, "prompt": "Once upon a time", "max_tokens": 16}
        whole = self.client.completions.create(**ask).choices[0].text
        chunks = list(self.client.completions.create(**ask, stream=True))
        self.assertEqual(len(whole.split()), 16)
        self.assertEqual("".join(c.choices[0].text for c in chunks), whole)

    def test_embeddings(self):
        ask = {"model": MODEL, "input": ["one", "two"], "dimensions": 8}
        packed = self.client.embeddings.create(**ask)  # the client asks for base64
        plain = self.client.embeddings.create(**ask, encoding_format="float")
        self.assertEqual([len(d.embedding) for d in packed.data], [8, 8])
        self.assertNotEqual(packed.data[0].embedding, packed.data[1].embedding)
        for a, b in zip(packed.data, plain.data, strict=True):
            for x, y in zip(a.embedding, b.embedding, strict=True):
                self.assertAlmostEqual(x, y, places=6)
        self.assertEqual(packed.usage.total_tokens, plain.usage.total_tokens)

    def test_session_stays(self):
        create = self.client.chat.completions.with_raw_response.create
        turns = [create(model=MODEL, messages=HELLO, max_tokens=1, extra_headers={"x-session-id": "python"}) for _ in range(8)]
        self.assertEqual(len({t.headers["x-gatewayd-worker"] for t in turns}), 1)

    def test_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.client.chat.completions.create(model="no-such-model", messages=HELLO)
        error = caught.exception
        self.assertEqual((error.status_code, error.code, error.param, error.type), (404, "model_not_found", "model", "invalid_request_error"))
        self.assertIn("no-such-model", error.message)
        self.assertTrue(error.request_id)

    def test_wrong_requests(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(extra_body={"messages": "hello"})  # the gateway refuses it
        self.assertEqual((caught.exception.status_code, caught.exception.param), (400, "messages"))
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(tokens=0)  # the worker refuses it
        self.assertEqual((caught.exception.status_code, caught.exception.param), (400, "max_tokens"))
        with self.assertRaises(openai.NotFoundError) as caught:
            self.client.post("/no-such-path", cast_to=object, body={})
        self.assertEqual(caught.exception.code, "not_found")

    def test_closed_stream_is_cancelled(self):
        def leave():
            with self.chat(tokens=LONG, stream=True) as stream:
                next(iter(stream))
        self.cancels(leave)

    def test_timeout_of_the_client(self):
        def leave():
            with self.assertRaises(openai.APITimeoutError):
                self.chat(self.client.with_options(timeout=2), tokens=LONG)
        self.cancels(leave)

    def test_timeout_of_the_gateway(self):
        hurried = openai.OpenAI(**settings("HURRIED"))
        self.addCleanup(hurried.close)
        with self.assertRaises(openai.InternalServerError) as caught:
            self.chat(hurried, tokens=LONG)
        self.assertEqual((caught.exception.status_code, caught.exception.code), (504, "timeout_total"))
        with self.assertRaisesRegex(openai.APIError, "timeouts.total") as caught:
            list(self.chat(hurried, tokens=LONG, stream=True))  # told in the stream
        self.assertEqual(caught.exception.code, "timeout_total")

    def test_many_at_once(self):
        async def one(client, i):
            stream = await client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": f"Number {i}"}], max_tokens=16, stream=True)
            return text([c async for c in stream])

        async def all_of_them():
            async with openai.AsyncOpenAI(**settings("DEMO")) as client:
                return await asyncio.gather(*(one(client, i) for i in range(64)))

        self.assertEqual({len(answer.split()) for answer in asyncio.run(all_of_them())}, {16})


if __name__ == "__main__":
    unittest.main()

// The official OpenAI client for Node against gatewayd. openai_test.py holds the same
// of the client for Python, and says what the environment has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";

const model = "llama-3.1-8b";
const messages = [{ role: "user", content: "Why is the sky blue?" }];
const long = 60_000; // tokens, which take minutes

const at = (gateway) => new OpenAI({ baseURL: `${process.env[gateway]}/v1`, apiKey: "none", maxRetries: 0, timeout: 120_000 });
const client = at("DEMO");
const ask = { model, messages, max_tokens: 16 };
const chat = (more = {}, options = {}, by = client) => by.chat.completions.create({ ...ask, ...more }, options);
const text = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? "").join("");

async function all(stream) {
  const chunks = [];
  for await (const chunk of await stream) {
    chunks.push(chunk);
  }
  return chunks;
}

// metric returns the sum of a metric's series that have the label.
async function metric(name, label) {
  const page = await (await fetch(`${process.env.ADMIN}/metrics`)).text();
  const series = [...page.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, "gm"))];
  return series.filter(([, labels]) => labels.includes(label)).reduce((sum, [, , value]) => sum + Number(value), 0);
}

async function until(what, holds) {
  for (const end = Date.now() + 60_000; !(await holds()); await pause(50)) {
    assert.ok(Date.now() < end, `waited in vain for ${what}`);
  }
}

// cancels calls leave, which must end a long request early, and waits until the
// gateway has ended it too.
async function cancels(leave) {
  const cancelled = () => metric("gatewayd_requests_total", 'outcome="cancelled"');
  const before = await cancelled();
  await leave();
  await until("the cancelled request", async () => (await cancelled()) === before + 1);
  await until("the worker to be free", async () => (await metric("gatewayd_in_flight", "worker")) === 0);
}

test("models", async () => {
  assert.deepEqual((await client.models.list()).data.map((m) => m.id), [model]);
  assert.equal((await client.models.retrieve(model)).object, "model");
});

test("chat", async () => {
  const { data, response, request_id } = await chat().withResponse();
  assert.match(response.headers.get("x-gatewayd-worker"), /^worker-[1-4]$/);
  assert.ok(response.headers.get("x-gatewayd-strategy"));
  assert.ok(response.headers.get("x-gatewayd-reason"));
  assert.equal(request_id, response.headers.get("x-request-id"));
  assert.deepEqual([data.object, data.model], ["chat.completion", model]);
  assert.deepEqual([data.choices[0].message.role, data.choices[0].finish_reason], ["assistant", "length"]);
  assert.equal(data.choices[0].message.content.trim().split(/\s+/).length, 16);
  assert.equal(data.usage.completion_tokens, 16);
  assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + 16);
});

test("stream", async () => {
  const whole = (await chat()).choices[0].message.content;
  const chunks = await all(chat({ stream: true }));
  assert.equal(text(chunks), whole);
  assert.equal(new Set(chunks.map((c) => c.id)).size, 1);
  assert.equal(chunks[0].choices[0].delta.role, "assistant");
  assert.equal(chunks.at(-1).choices[0].finish_reason, "length");
  assert.deepEqual(chunks.filter((c) => c.usage), []);
});

test("stream with usage", async () => {
  const whole = await chat();
  const chunks = await all(chat({ stream: true, stream_options: { include_usage: true } }));
  assert.equal(text(chunks), whole.choices[0].message.content);
  assert.deepEqual(chunks.at(-1).choices, []);
  const counts = chunks.filter((c) => c.usage).map((c) => [c.usage.prompt_tokens, c.usage.completion_tokens]);
  assert.deepEqual(counts, [[whole.usage.prompt_tokens, 16]]);
});

test("completions", async () => {
  const prompt = { model, prompt: "Once upon a time", max_tokens: 16 };
  const whole = (await client.completions.create(prompt)).choices[0].text;
  const chunks = await all(client.completions.create({ ...prompt, stream: true }));
  assert.equal(whole.trim().split(/\s+/).length, 16);
  assert.equal(chunks.map((c) => c.choices[0].text).join(""), whole);
});

test("embeddings", async () => {
  const input = { model, input: ["one", "two"], dimensions: 8 };
  const packed = await client.embeddings.create(input); // the client asks for base64
  const plain = await client.embeddings.create({ ...input, encoding_format: "float" });
  assert.deepEqual(packed.data.map((d) => d.embedding.length), [8, 8]);
  assert.notDeepEqual(packed.data[0].embedding, packed.data[1].embedding);
  packed.data.forEach((d, i) => d.embedding.forEach((x, k) => assert.ok(Math.abs(x - plain.data[i].embedding[k]) < 1e-6)));
  assert.equal(packed.usage.total_tokens, plain.usage.total_tokens);
});

test("a session stays", async () => {
  const workers = new Set();
  for (let turn = 0; turn < 8; turn++) {
    const { response } = await chat({ max_tokens: 1 }, { headers: { "x-session-id": "node" } }).withResponse();
    workers.add(response.headers.get("x-gatewayd-worker"));
  }
  assert.equal(workers.size, 1);
});

test("unknown model", async () => {
  await assert.rejects(chat({ model: "no-such-model" }), (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.deepEqual([error.status, error.code, error.param, error.type], [404, "model_not_found", "model", "invalid_request_error"]);
    assert.match(error.message, /no-such-model/);
    assert.ok(error.requestID);
    return true;
  });
});

test("wrong requests", async () => {
  const refused = (param) => (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.status, error.param], [400, param]);
    return true;
  };
  await assert.rejects(chat({ messages: "hello" }), refused("messages")); // by the gateway
  await assert.rejects(chat({ max_tokens: 0 }), refused("max_tokens")); // by the worker
  await assert.rejects(client.post("/no-such-path", { body: {} }), (error) => error instanceof OpenAI.NotFoundError && error.code === "not_found");
});

test("a closed stream is cancelled", async () => {
  await cancels(async () => {
    for await (const chunk of await chat({ max_tokens: long, stream: true })) {
      assert.equal(chunk.object, "chat.completion.chunk");
      break; // closes it
    }
  });
});

test("an aborted request is cancelled", async () => {
  await cancels(async () => {
    const controller = new AbortController();
    const stream = await chat({ max_tokens: long, stream: true }, { signal: controller.signal });
    let chunks = 0;
    for await (const _ of stream) {
      chunks++;
      controller.abort();
    }
    assert.ok(chunks > 0);
  });
});

test("timeout of the client", async () => {
  await cancels(() => assert.rejects(chat({ max_tokens: long }, { timeout: 2_000 }), OpenAI.APIConnectionTimeoutError));
});

test("timeout of the gateway", async () => {
  const hurried = at("HURRIED");
  await assert.rejects(chat({ max_tokens: long }, {}, hurried), (error) => {
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.deepEqual([error.status, error.code], [504, "timeout_total"]);
    return true;
  });
  const stream = async () => all(chat({ max_tokens: long, stream: true }, {}, hurried)); // told in the stream
  await assert.rejects(stream, (error) => {
    assert.ok(error instanceof OpenAI.APIError);
    assert.equal(error.code, "timeout_total");
    assert.match(error.message, /timeouts\.total/);
    return true;
  });
});

test("many at once", async () => {
  const one = (i) => all(chat({ stream: true, messages: [{ role: "user", content: `Number ${i}` }] }));
  const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => one(i)));
  assert.deepEqual([...new Set(answers.map((a) => text(a).trim().split(/\s+/).length))], [16]);
});

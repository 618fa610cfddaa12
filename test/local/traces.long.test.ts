import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createFolder, whenStarted } from "../servers/running.ts";
import type { SentSpan } from "./spans-to-file.ts";
import { givenReceiver } from "./webhook-receiver.ts";

// Traces of a server in its own process, as an SDK of OpenTelemetry that was imported before it gets them.

const SDK = { NODE_OPTIONS: "--import=./test/local/spans-to-file.ts" };

const givenSpans = () => {
  const file = join(createFolder(), "spans");
  const read = () => (existsSync(file) ? readFileSync(file, "utf8") : "");
  const spans = () =>
    read()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as SentSpan);
  return { env: { ...SDK, SPANS_FILE: file }, read, spans };
};

const named = (spans: readonly SentSpan[], name: string) =>
  spans.filter((span) => span.name === name);

const UNSET = 0;
const [SERVER, CLIENT, CONSUMER] = [1, 2, 4];

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const ADA = "ada.lovelace@valid.lab.mailproof.test";

test.each(["0", "1"])(
  "a verification's trace contains the request, the session and the caller's link (ENGINE_THREADS=%s)",
  async (threads) => {
    const { env, read, spans } = givenSpans();
    const { ready, stop } = await whenStarted(createFolder(), [], {
      ...env,
      ENGINE_THREADS: threads,
    });
    const headers = { "x-api-key": ready.live_key, "content-type": "application/json" };
    const traceparent = `00-${TRACE}-${CALLER}-01`;
    const response = await fetch(`${ready.base_url}/v1/verify`, {
      method: "POST",
      headers: { ...headers, traceparent, tracestate: `of=${ADA}` },
      body: JSON.stringify({ email: ADA }),
    });
    expect(response.status).toBe(200);
    await fetch(`${ready.base_url}/v1/nothing?of=${ADA}`, { headers });
    await stop("SIGTERM");

    const [request] = named(spans(), "POST /v1/verify");
    if (!request) throw new Error("there is no span of the request");
    expect(request).toMatchObject({ kind: SERVER, links: [`${TRACE} ${CALLER}`] });
    expect(request.parentSpanId).toBeUndefined();
    expect(request.traceId).not.toBe(TRACE);
    expect(request.status).toEqual({ code: UNSET });
    expect(request.attributes).toEqual({
      "mailproof.request_id": response.headers.get("x-request-id"),
      "http.request.method": "POST",
      "http.route": "/v1/verify",
      "http.response.status_code": 200,
    });

    const [session] = named(spans(), "SMTP session");
    if (!session) throw new Error("there is no span of the session");
    expect(session).toMatchObject({
      traceId: request.traceId,
      parentSpanId: request.spanId,
      kind: CLIENT,
    });
    expect(session.attributes).toEqual({
      "mailproof.provider": "other",
      "mailproof.outcome": "us",
      "mailproof.recipients": 1,
      "mailproof.answered": 1,
      "mailproof.wait_ms": expect.any(Number),
    });
    for (const { times } of [request, session])
      expect(times).toEqual(times.toSorted((a, b) => a - b));

    const [lost] = named(spans(), "HTTP");
    expect(lost?.attributes).toMatchObject({ "http.response.status_code": 404 });
    expect(lost?.parentSpanId).toBeUndefined();
    for (const secret of ["ada@", "valid.lab", "lovelace", ready.live_key, "mp_live"])
      expect(read()).not.toContain(secret);
  },
);

test("the trace of a job's chunk contains its sessions, and no address or domain", async () => {
  const { env, read, spans } = givenSpans();
  const { ready, stop } = await whenStarted(createFolder(), [], env);
  const headers = { "x-api-key": ready.live_key, "content-type": "application/json" };
  const emails = [ADA, "nobody@valid.lab.mailproof.test", "ann@catchall.lab.mailproof.test"];
  const accepted = await fetch(`${ready.base_url}/v1/verify/batch`, {
    method: "POST",
    headers,
    body: JSON.stringify({ emails }),
  });
  const { data: job } = (await accepted.json()) as { data: { job_id: string } };
  await vi.waitFor(
    async () => {
      const response = await fetch(`${ready.base_url}/v1/jobs/${job.job_id}`, { headers });
      const { data } = (await response.json()) as { data: { status: string } };
      expect(data.status).toBe("completed");
    },
    { timeout: 100_000, interval: 100 },
  );
  await stop("SIGTERM");

  const [chunk] = named(spans(), "process chunks");
  if (!chunk) throw new Error("there is no span of the chunk");
  expect(chunk).toMatchObject({ kind: CONSUMER, status: { code: UNSET } });
  expect(chunk.parentSpanId).toBeUndefined();
  expect(chunk.attributes).toEqual({
    "messaging.destination.name": "chunks",
    "mailproof.job": job.job_id,
  });
  const sessions = named(spans(), "SMTP session");
  expect(sessions.length).toBeGreaterThan(0);
  for (const session of sessions)
    expect(session).toMatchObject({ traceId: chunk.traceId, parentSpanId: chunk.spanId });
  for (const secret of ["ada@", "nobody", "ann@", "lab.mailproof", "catchall"])
    expect(read()).not.toContain(secret);
});

test("the span of a webhook delivery contains the message as parent and the status, and no receiver", async () => {
  const { env, read, spans } = givenSpans();
  const folder = createFolder();
  const receiver = await givenReceiver(folder);
  const { ready, stop } = await whenStarted(folder, [], { ...receiver.env, ...env });
  const headers = { "x-api-key": ready.test_key, "content-type": "application/json" };
  const post = (path: string, body: unknown) =>
    fetch(`${ready.base_url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  await post("/v1/webhooks", { url: receiver.url, events: ["job.completed"] });
  await post("/v1/verify/batch", { emails: ["ann@x.com"] });
  await receiver.atLeast(1);
  await stop("SIGTERM");

  const [delivery] = named(spans(), "webhook delivery");
  if (!delivery) throw new Error("there is no span of the delivery");
  expect(delivery.kind).toBe(CLIENT);
  expect(delivery.attributes).toEqual({
    "http.request.method": "POST",
    "http.response.status_code": 200,
  });
  const parent = spans().find(({ spanId }) => spanId === delivery.parentSpanId);
  expect(parent).toMatchObject({ kind: CONSUMER, traceId: delivery.traceId });
  const { hostname } = new URL(receiver.url);
  for (const secret of [hostname, "x.com", "whsec_"]) expect(read()).not.toContain(secret);
});

test("a hanging collector delays neither responses nor the server's end", async () => {
  const { ready, stop } = await whenStarted(createFolder(), [], SDK);
  const headers = { "x-api-key": ready.live_key };
  for (let n = 0; n < 5; n++)
    expect((await fetch(`${ready.base_url}/v1/account`, { headers })).status).toBe(200);

  expect((await stop("SIGTERM")).code).toBe(0);
});

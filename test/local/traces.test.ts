import { expect, test, vi } from "vitest";
import { givenCollector, type SentSpan } from "./collector.ts";
import { createFolder, whenStarted } from "./running.ts";
import { givenReceiver } from "./webhook-receiver.ts";

// Traces of a server in a process of its own, as a collector receives them over a socket.

const findValue = ({ attributes }: Pick<SentSpan, "attributes">, key: string) => {
  const value = attributes.find((one) => one.key === key)?.value;
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : Number(value.intValue));
};
const named = (spans: readonly SentSpan[], name: string) =>
  spans.filter((span) => span.name === name);

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const ADA = "ada.lovelace@valid.lab.mailproof.test";

test.each(["0", "1"])(
  "a verification is a trace: the caller's, the request's and the session's (ENGINE_THREADS=%s)",
  async (threads) => {
    const { url, bodies, requests, sent, spans } = await givenCollector();
    const { ready, stop } = await whenStarted(createFolder(), [], {
      ENGINE_THREADS: threads,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other",
      OTEL_SERVICE_NAME: "mail",
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

    expect(requests[0]).toMatchObject({
      path: "/v1/traces",
      headers: { "content-type": "application/json", "x-tenant": "a b" },
    });
    const resource = sent()[0]?.resourceSpans[0]?.resource ?? { attributes: [] };
    expect(findValue(resource, "service.name")).toBe("mail");
    expect(findValue(resource, "deployment.environment.name")).toBe("test");

    const [request] = named(spans(), "POST /v1/verify");
    if (!request) throw new Error("there is no span of the request");
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2, status: {} });
    expect(findValue(request, "http.route")).toBe("/v1/verify");
    expect(findValue(request, "http.response.status_code")).toBe(200);
    expect(findValue(request, "mailproof.request_id")).toBe(response.headers.get("x-request-id"));

    const [session] = named(spans(), "SMTP session");
    if (!session) throw new Error("there is no span of the session");
    expect(session).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId, kind: 3 });
    expect(findValue(session, "mailproof.provider")).toBe("other");
    expect(findValue(session, "mailproof.outcome")).toBe("us");
    expect(findValue(session, "mailproof.recipients")).toBe(1);
    for (const { startTimeUnixNano: start, endTimeUnixNano: end } of [request, session])
      expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start));
    expect(BigInt(session.startTimeUnixNano) + 5_000_000n).toBeGreaterThan(
      BigInt(request.startTimeUnixNano),
    );

    const [lost] = named(spans(), "HTTP");
    expect(lost && findValue(lost, "http.response.status_code")).toBe(404);
    expect(lost?.parentSpanId).toBeUndefined();
    for (const secret of ["ada@", "valid.lab", "lovelace", ready.live_key, "mp_live"])
      expect(bodies.join("")).not.toContain(secret);
  },
);

test("a job's chunk is a trace with its sessions, without an address or a domain", async () => {
  const { url, bodies, spans } = await givenCollector();
  const { ready, stop } = await whenStarted(createFolder(), [], {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/path`,
  });
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
      const read = await fetch(`${ready.base_url}/v1/jobs/${job.job_id}`, { headers });
      const { data } = (await read.json()) as { data: { status: string } };
      expect(data.status).toBe("completed");
    },
    { timeout: 100_000, interval: 100 },
  );
  await stop("SIGTERM");

  const [chunk] = named(spans(), "process chunks");
  if (!chunk) throw new Error("there is no span of the chunk");
  expect(chunk).toMatchObject({ kind: 5, status: {} });
  expect(findValue(chunk, "mailproof.job")).toBe(job.job_id);
  const sessions = named(spans(), "SMTP session");
  expect(sessions.length).toBeGreaterThan(0);
  for (const session of sessions)
    expect(session).toMatchObject({ traceId: chunk.traceId, parentSpanId: chunk.spanId });
  for (const secret of ["ada@", "nobody", "ann@", "lab.mailproof", "catchall"])
    expect(bodies.join("")).not.toContain(secret);
});

test("a webhook delivery is a span below its message, with the status and without the receiver", async () => {
  const { url, bodies, spans } = await givenCollector();
  const folder = createFolder();
  const receiver = await givenReceiver(folder);
  const { ready, stop } = await whenStarted(folder, [], {
    ...receiver.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
  });
  const headers = { "x-api-key": ready.test_key, "content-type": "application/json" };
  const post = (path: string, body: unknown) =>
    fetch(`${ready.base_url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  await post("/v1/webhooks", { url: receiver.url, events: ["job.completed"] });
  await post("/v1/verify/batch", { emails: ["ann@x.com"] });
  await receiver.atLeast(1);
  await stop("SIGTERM");

  const [delivery] = named(spans(), "webhook delivery");
  if (!delivery) throw new Error("there is no span of the delivery");
  expect(delivery.kind).toBe(3);
  expect(findValue(delivery, "http.response.status_code")).toBe(200);
  const parent = spans().find(({ spanId }) => spanId === delivery.parentSpanId);
  expect(parent).toMatchObject({ kind: 5, traceId: delivery.traceId });
  const { hostname } = new URL(receiver.url);
  for (const secret of [hostname, "x.com", "whsec_"]) expect(bodies.join("")).not.toContain(secret);
});

test("a collector that hangs stops nothing: requests are answered, and the server ends", async () => {
  const { url } = await givenCollector(() => "never");
  const { ready, stop, readLog } = await whenStarted(createFolder(), [], {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
  });
  const headers = { "x-api-key": ready.live_key };
  for (let n = 0; n < 5; n++)
    expect((await fetch(`${ready.base_url}/v1/account`, { headers })).status).toBe(200);

  expect((await stop("SIGTERM")).code).toBe(0);
  expect(readLog().map(({ event }) => event)).toContain("traces_not_sent");
});

test("without a collector, or with OTEL_SDK_DISABLED, nothing is traced", async () => {
  const { url, requests } = await givenCollector();
  const { ready, stop } = await whenStarted(createFolder(), [], {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_SDK_DISABLED: "TRUE",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  });
  expect((await fetch(`${ready.base_url}/health`)).status).toBe(200);
  await stop("SIGTERM");

  expect(requests).toEqual([]);
});

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@mailproof/client/client";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { OPEN } from "../servers/https-servers.ts";
import { createFolder, serveFile, spawnMailproof, whenStarted } from "../servers/running.ts";
import { givenReceiver } from "./webhook-receiver.ts";

const call = async (base: string, key: string, route: string, body: unknown) => {
  const [method = "", path = ""] = route.split(" ");
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, ...((await answer.json()) as { data?: any; error?: any }) };
};

/** The server records a delivery a moment after the receiver has it. */
const untilNoted = async (base: string, key: string, hook: string): Promise<void> => {
  for (;;) {
    const { data } = await call(base, key, `GET /v1/webhooks/${hook}/deliveries`, undefined);
    if (data.deliveries[0]?.attempts > 0) return;
    await setTimeout(20);
  }
};

const EVENTS = ["job.completed"];

test("the server reports a completed job to its webhook over real sockets with a signature", async () => {
  const folder = createFolder();
  const { url, received, atLeast, connections, env } = await givenReceiver(folder);
  const { ready, stop } = await whenStarted(folder, [], env);
  const { base_url: base, test_key: key } = ready;
  const { data: hook } = await call(base, key, "POST /v1/webhooks", { url, events: EVENTS });

  const { data: job } = await call(base, key, "POST /v1/verify/batch", { emails: ["ann@x.com"] });
  await atLeast(1);

  const [first] = received;
  const event = new Webhook(hook.secret).verify(
    first?.body ?? "",
    first?.headers as Record<string, string>,
  );
  expect(event).toMatchObject({ type: "job.completed", data: { job_id: job.job_id } });
  expect(new Set(connections)).toEqual(new Set([OPEN]));
  await stop("SIGTERM");
});

// Ten seconds as a rule. A power cut in the middle of a try costs its lease and a round of the reconciler.
const LONGEST_MS = 200_000;

test(
  "the server sends a delivery after the power loss that interrupted it",
  async () => {
    const folder = createFolder();
    let status = 503;
    const { url, received, atLeast, env } = await givenReceiver(folder, () => status);
    const before = await whenStarted(folder, [], env);
    const { base_url: base, test_key: key } = before.ready;
    const { data: hook } = await call(base, key, "POST /v1/webhooks", { url, events: EVENTS });
    await call(base, key, "POST /v1/verify/batch", { emails: ["ann@x.com"] });
    await untilNoted(base, key, hook.id);
    await before.stop("SIGKILL");
    status = 200;
    const calls = received.length;

    const after = await whenStarted(folder, [], env);
    await atLeast(calls + 1);

    expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    await after.stop("SIGTERM");
  },
  LONGEST_MS,
);

test("the server neither calls nor registers a webhook on this machine without the setting", async () => {
  const folder = createFolder();
  const { url, connections, env } = await givenReceiver(folder);
  const { ready, stop } = await whenStarted(folder, [], { ...env, OUTBOUND_ALLOW_PRIVATE: "" });
  const { base_url: base, test_key: key } = ready;

  for (const one of [url, "https://127.0.0.1/", "https://localhost/", "https://[::1]/"])
    expect(await call(base, key, "POST /v1/webhooks", { url: one, events: EVENTS })).toMatchObject({
      status: 400,
      error: {
        message:
          "url: must not resolve to a private address, unless OUTBOUND_ALLOW_PRIVATE permits it. Nothing was charged.",
      },
    });

  expect(connections).toEqual([]);
  await stop("SIGTERM");
});

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** A program that is being developed: it takes webhooks over plain http. */
const startReceiver = async (status = 200) => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` };
};

const listen = async (env: Record<string, string>, ...args: readonly string[]) => {
  const child = spawnMailproof(["listen", ...args], env);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const notes = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const readNote = async () => String((await notes.next()).value);
  const ready = await readNote();
  const readLine = async () => JSON.parse(String((await lines.next()).value)) as object;
  return { child, ready, readNote, readLine };
};

const { server } = serveFile();

test("mailproof listen sends the account's events to a local program, signed as a webhook, until Ctrl-C", async () => {
  const { ready } = await server;
  const receiver = await startReceiver(202);
  const env = { MAILPROOF_API: ready.base_url, MAILPROOF_KEY: ready.test_key };
  const client = createClient({ baseUrl: ready.base_url, key: ready.test_key });
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const listening = await listen(env, receiver.url, "--secret", secret);

  const { job_id } = await client.verifyBatch({ emails: ["ann@example.com"] });
  const line = await listening.readLine();

  expect(listening.ready).toBe(
    `Events of ${ready.base_url} go to ${receiver.url}, signed with ${secret}. Ctrl-C ends this.`,
  );
  expect(line).toMatchObject({ type: "job.completed", data: { job_id }, status: 202, error: null });
  const [call] = receiver.received;
  const event = new Webhook(secret).verify(
    call?.body ?? "",
    call?.headers as Record<string, string>,
  );
  expect(event).toMatchObject({ type: "job.completed", data: { job_id, status: "completed" } });
  const ended = once(listening.child, "exit");
  listening.child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
});

test("mailproof listen --events omits all other events and prints a line for a program that does not answer", async () => {
  const { ready } = await server;
  const env = { MAILPROOF_API: ready.base_url, MAILPROOF_KEY: ready.test_key };
  const client = createClient({ baseUrl: ready.base_url, key: ready.test_key });
  const receiver = await startReceiver();
  const wanted = await listen(
    env,
    "--forward-to",
    "http://127.0.0.1:1/x",
    "--events",
    "job.completed",
  );
  await listen(env, "--forward-to", receiver.url, "--events", "credits.low,dmarc.failed");

  await client.verifyBatch({ emails: ["ann@example.com"] });

  expect(await wanted.readLine()).toMatchObject({ status: null, error: expect.any(String) });
  expect(receiver.received).toEqual([]);
});

test("mailproof listen continues with its cursor after a server stops and starts again", async () => {
  const folder = createFolder();
  const first = await whenStarted(folder);
  const { base_url, test_key } = first.ready;
  const client = createClient({ baseUrl: base_url, key: test_key, retries: 0 });
  const { cursor } = await client.listEvents({ wait: 0 });
  const waiting = client.listEvents({ after: cursor, wait: 25 });
  // Until the request has arrived: a second one is answered after it.
  await client.listEvents({ wait: 0 });
  await setTimeout(100);

  const { code } = await first.stop("SIGTERM");

  expect(code).toBe(0);
  expect(await waiting).toMatchObject({ events: [] });
  const second = await whenStarted(folder);
  const again = createClient({ baseUrl: second.ready.base_url, key: test_key });
  const { job_id } = await again.verifyBatch({ emails: ["ann@example.com"] });
  const { events } = await again.listEvents({ after: cursor, wait: 25 });
  expect(events).toMatchObject([{ type: "job.completed", data: { job_id } }]);
  await second.stop("SIGTERM");
});

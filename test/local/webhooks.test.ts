import { setTimeout } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { OPEN } from "../servers/https-servers.ts";
import { createFolder, whenStarted } from "../servers/running.ts";
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

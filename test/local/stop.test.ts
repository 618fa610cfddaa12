import { once } from "node:events";
import { existsSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "../runner/eventually.ts";
import { createFolder, whenStarted } from "../servers/running.ts";

// What callers get from a server that received SIGTERM.

type Question = { readonly route: string; readonly key: string; readonly body?: unknown };

const ask = async (agent: Agent, base: string, { route, key, body }: Question) => {
  const [method = "", path = ""] = route.split(" ");
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const asked = request(base + path, { method, headers, agent }).end(
    body === undefined ? undefined : JSON.stringify(body),
  );
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const { data, error } = JSON.parse(await text(answer));
  return { status: answer.statusCode, connection: answer.headers.connection, data, error };
};

test("a stop leaves slow verifications pending, and the next process continues them", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const { base_url: base, live_key: key } = ready;
  const agent = new Agent({ keepAlive: true });
  const asked = Array.from({ length: 20 }, (_, n) => {
    // Longer than the stop waits for anyone.
    const options = { timeout_ms: 30_000 };
    const body = { email: `nobody${n}@slow.lab.mailproof.test`, options };
    return ask(agent, base, { route: "POST /v1/verify", key, body });
  });
  await eventually(async () => {
    const { data } = await ask(agent, base, { route: "GET /v1/account", key });
    expect(data.credits.held).toBe(20);
  });

  const [answers, { code }] = await Promise.all([Promise.all(asked), stop("SIGTERM")]);

  expect(code).toBe(0);
  expect(answers.map(({ data, connection }) => `${data.status} ${connection}`)).toEqual(
    Array.from(answers, () => "pending close"),
  );
  const again = await whenStarted(folder);
  const [job] = answers.map(({ data }) => data.job_id as string);
  const { data } = await ask(new Agent(), again.ready.base_url, {
    route: `GET /v1/jobs/${job}`,
    key,
  });
  expect(data.status).toMatch(/^(pending|processing|completed)$/);
});

test("a stop closes open connections after their responses and refuses new work without a charge", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const { base_url: base, live_key: key } = ready;
  const agent = new Agent({ keepAlive: true });
  const slow = { email: "nobody@slow.lab.mailproof.test" };
  // More connections than the requests below need.
  const earlier = await Promise.all(
    Array.from({ length: 4 }, () => ask(agent, base, { route: "GET /v1/account", key })),
  );

  const stopped = stop("SIGTERM");
  await eventually(() => expect(existsSync(join(folder, "ready.json"))).toBe(false));
  const [paid, read] = await Promise.all([
    ask(agent, base, { route: "POST /v1/verify", key, body: slow }),
    ask(agent, base, { route: "GET /v1/account", key }),
  ]);

  expect(earlier.map(({ connection }) => connection)).toEqual(earlier.map(() => "keep-alive"));
  expect(paid).toMatchObject({
    status: 503,
    connection: "close",
    error: { money: "nothing_charged" },
  });
  expect(read).toMatchObject({ status: 200, connection: "close" });
  expect((await stopped).code).toBe(0);
});

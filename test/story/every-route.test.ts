import { endpoints } from "@mailproof/api/endpoints";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send } from "../send.ts";

// What every route behind a key has in common. The other stories cover the rest, a route each.

const behindAKey = endpoints.filter(({ access }) => access !== "public").map(({ route }) => route);

const PER_MINUTE = 60;

test.each(behindAKey)(
  "%s: a burst beyond the plan is 429, and says when to come again",
  async (route) => {
    const { world, liveKey: key } = await given({ plan: "free" });
    const somewhere = route.replaceAll(/\{\w+\}/g, "anything");
    const sendBurst = Array.from({ length: PER_MINUTE + 1 }, () => send(world, somewhere, { key }));

    const limited = (await Promise.all(sendBurst)).filter(({ statusCode }) => statusCode === 429);

    expect(limited).toMatchObject([
      {
        headers: { "retry-after": "60", "x-ratelimit-remaining": "0" },
        error: { code: "RATE_LIMITED", retryable: true, money: "nothing_charged" },
      },
    ]);
  },
);

const withAnId = behindAKey.filter((route) => route.includes("{id}"));
const IMPOSSIBLE = [
  "x".repeat(101),
  "x".repeat(3_000),
  "a%20b",
  "%00",
  "x%23y",
  "%F0%9F%98%80",
  "-",
];

/** Without it the query is refused, whatever the id. */
const QUERIES: Readonly<Record<string, string>> = {
  "POST /v1/webhooks/{id}/replay": "?since=2026-11-20T00:00:00Z",
};

test.each(withAnId)("%s: an id that cannot exist is 404, like one that does not", async (route) => {
  const { world, liveKey: key } = await given();
  const body = EXAMPLES.find((one) => one.route === route)?.request;
  const sendBurst = (id: string) =>
    send(world, `${route.replaceAll(/\{\w+\}/g, id)}${QUERIES[route] ?? ""}`, {
      key,
      ...(body !== undefined && { body }),
    });
  const { error: missing } = await sendBurst("job_9");

  for (const id of IMPOSSIBLE) {
    const { statusCode, error } = await sendBurst(id);
    expect([id, statusCode, error]).toEqual([id, 404, missing]);
  }
});

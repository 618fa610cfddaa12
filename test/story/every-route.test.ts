import { endpoints } from "@mailproof/api/endpoints";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send } from "../send.ts";

// What every route behind a key tells alike. The stories beside this one tell the rest, a route each.

const behindAKey = endpoints.filter(({ access }) => access !== "public").map(({ route }) => route);

const PER_MINUTE = 60;

test.each(behindAKey)(
  "%s: a burst beyond the plan is 429, and says when to come again",
  async (route) => {
    const { world, liveKey: key } = await given({ plan: "free" });
    const somewhere = route.replaceAll(/\{\w+\}/g, "anything");
    const asked = Array.from({ length: PER_MINUTE + 1 }, () => send(world, somewhere, { key }));

    const refused = (await Promise.all(asked)).filter(({ statusCode }) => statusCode === 429);

    expect(refused).toMatchObject([
      {
        headers: { "retry-after": "60", "x-ratelimit-remaining": "0" },
        error: { code: "RATE_LIMITED", retryable: true, money: "nothing_charged" },
      },
    ]);
  },
);

import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send } from "../send.ts";

const ROUTE = "GET /v1/webhooks/events";

test("the names of all events are 200", async () => {
  const { world, liveKey: key } = await given();

  expect(await send(world, ROUTE, { key })).toMatchObject({
    statusCode: 200,
    data: {
      events: [
        "job.completed",
        "job.failed",
        "credits.low",
        "credits.depleted",
        "blacklist.detected",
        "dmarc.failed",
        "dmarc.ready",
      ],
    },
  });
});

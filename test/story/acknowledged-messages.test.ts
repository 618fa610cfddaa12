import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { workers } from "@mailproof/core/background/workers";
import { expect, test } from "vitest";
import { whenReconciled } from "../app/drain-queues.ts";
import { given, START } from "../app/given.ts";
import { listStoredItems } from "../app/ledger.ts";
import type { TestContext } from "../things/jobs.ts";
import { parseEvents, whenEventEmitted, whenPassed, whenSubscribed } from "../things/webhooks.ts";

// While no live session is open, SST's bridge acknowledges what the queues hand to it (docs/operating.md): messages are
// gone, and no worker has handled them. Work that is also due in the table is done all the same.

const whenBridgeAcknowledges = async ({ queue }: Pick<TestContext, "queue">): Promise<number> => {
  let count = 0;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { receipt } of received) await queue.acknowledge(receipt);
      count += received.length;
    }
  return count;
};

test("an event reaches its webhook within minutes after its delivery's message was lost", async () => {
  const ctx = await given({ balance: 10 });
  await whenSubscribed(ctx);
  await whenEventEmitted(ctx);
  ctx.later(60_000);
  await whenReconciled(ctx);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 5 * 60_000);

  expect(parseEvents(ctx.servers.received).map(({ type }) => type)).toEqual(["credits.low"]);
});

test("the service loses the activity in an Amazon SES report when the report's message is lost", async () => {
  const ctx = await given();
  const mail = {
    messageId: "0100",
    timestamp: START.toISOString(),
    destination: ["ann@x.com"],
    tags: { mailproof_account: [ctx.account] },
  };
  const delivery = { timestamp: START.toISOString(), recipients: ["ann@x.com"] };
  const before = listStoredItems(ctx).length;
  await ctx.queue.sendMany(ACTIVITY_QUEUE.name, [
    { body: { eventType: "Delivery", mail, delivery } },
  ]);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 60 * 60_000);

  expect(listStoredItems(ctx)).toHaveLength(before);
});

import { createSlotTurn, type SlotRequest, toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { createWaitQueues } from "@mailproof/core/smtp-pool/slots/wait-queue";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

// A wait queue that takes longer than a ticket counts without being renewed.

const GMAIL = toSlotKey({
  host: "gmail-smtp-in.l.google.com",
  priority: 10,
  ips: ["192.0.2.20"],
});
const MINUTE_MS = 60_000;
/** One recipient in one session. */
const PACE_MS = 1_000;

const createRequest = (account: string, recipients: number): SlotRequest => ({
  turn: createSlotTurn(),
  requester: { account, priority: "list" },
  batch: 50,
  countRecipients: () => recipients,
  mayLeave: false,
});

test("earlier tickets count for as long as their rows return, however long ago they were drawn", async () => {
  const { world, later } = givenWorld();
  const queues = createWaitQueues(world);
  const decide = (request: SlotRequest) =>
    queues.decide(GMAIL, request, { free: 0, paceMs: PACE_MS });
  const expectMs = async (request: SlotRequest) => {
    const step = await decide(request);
    return step.kind === "return" ? step.atMs - world.now().getTime() : 0;
  };
  const ahead = Array.from({ length: 30 }, (_, n) => createRequest(`account${n}`, 200));
  const last = createRequest("last", 200);
  for (const request of ahead) await decide(request);
  const first = await expectMs(last);

  // No row gets a slot for an hour. Each returns every five minutes.
  for (let minute = 0; minute < 60; minute += 5) {
    for (const request of [...ahead, last]) await decide(request);
    later(5 * MINUTE_MS);
  }

  expect(first).toBeGreaterThan(2 * MINUTE_MS);
  expect(await expectMs(last)).toBe(first);
});

test("tickets of rows that do not return count for twenty minutes", async () => {
  const { world, later } = givenWorld();
  const queues = createWaitQueues(world);
  const decide = (request: SlotRequest) =>
    queues.decide(GMAIL, request, { free: 0, paceMs: PACE_MS });
  for (let n = 0; n < 30; n++) await decide(createRequest(`account${n}`, 200));
  const last = createRequest("last", 200);
  await decide(last);

  later(21 * MINUTE_MS);
  const step = await decide(last);

  expect(step.kind).toBe("wait");
});

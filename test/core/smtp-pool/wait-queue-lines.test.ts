import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import {
  createTurnHolder,
  type SlotRequest,
  toSlotKey,
} from "@mailproof/core/smtp-pool/slots/slots";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

// An order of processes that takes longer than a ticket counts without being renewed.

const GMAIL = toSlotKey({
  host: "gmail-smtp-in.l.google.com",
  priority: 10,
  ips: ["192.0.2.20"],
});
const MINUTE_MS = 60_000;
/** One recipient in one session. */
const PACE_MS = 1_000;

const createRequest = (account: string, recipients: number): SlotRequest => ({
  queue: createTurnHolder(),
  requester: { account, priority: "list" },
  batch: 50,
  sessionLength: 50,
  recipients: recipients,
  mayLeave: false,
});

/** A mail provider whose slots are all taken, for good. */
const givenFull = async () => {
  const { world, later } = givenWorld();
  const takeAll = async () => {
    const until = world.now().getTime() + MINUTE_MS;
    const taken = GMAIL.slots.map((slot) => [`slot_${slot}`, `${until} gone`]);
    const update = { pk: `PROVIDER#${GMAIL.limitKey}`, sk: "SHARED" };
    const set = { ...Object.fromEntries(taken), pace: PACE_MS };
    await world.table.write({ update, set, orCreate: true });
  };
  /** How long until the process of the request comes back; 0 where it waits itself. */
  const ask = async (request: SlotRequest): Promise<number> => {
    await takeAll();
    const answer = await createSharedSlots(world).acquire(GMAIL, request);
    return answer.kind === "later" ? Date.parse(answer.comeBack.at) - world.now().getTime() : 0;
  };
  return { ask, later };
};

test("earlier tickets count while their rows return, however old the tickets are", async () => {
  const { ask, later } = await givenFull();
  const ahead = Array.from({ length: 30 }, (_, n) => createRequest(`account${n}`, 200));
  const last = createRequest("last", 200);
  for (const request of ahead) await ask(request);
  const first = await ask(last);

  // No row gets a slot for an hour. Each returns every five minutes.
  for (let minute = 0; minute < 60; minute += 5) {
    for (const request of [...ahead, last]) await ask(request);
    later(5 * MINUTE_MS);
  }

  expect(first).toBeGreaterThan(2 * MINUTE_MS);
  expect(await ask(last)).toBe(first);
});

test("tickets of rows that do not return count for twenty minutes", async () => {
  const { ask, later } = await givenFull();
  for (let n = 0; n < 30; n++) await ask(createRequest(`account${n}`, 200));
  const last = createRequest("last", 200);
  await ask(last);

  later(21 * MINUTE_MS);

  expect(await ask(last)).toBe(0);
});

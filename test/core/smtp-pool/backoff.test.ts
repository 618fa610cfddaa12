import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { askAll, givenCluster, hostAt, kind } from "./cluster.ts";

// A reply about us and a reply about a recipient are kept apart, or one greylisted mailbox would close
// its server for every recipient.

const getBackoff = async (command: string, reply: string): Promise<number> => {
  const { engines, sessions } = givenCluster(
    1,
    (line, session) =>
      session === 1 && line.startsWith(command) && (command !== "" || line === "")
        ? reply
        : kind(line, session),
    { slots: createLocalSlots },
  );
  await askAll(engines, 1);
  await askAll(engines, 1);
  const [first, second] = sessions;
  return Math.floor(((second?.atMs ?? 0) - (first?.atMs ?? 0)) / 1_000);
};

test.each<[string, string, string, number]>([
  ["a 421 to a recipient", "RCPT", "421 try later", 30],
  ["a 421 greeting", "", "421 4.3.2 not now", 30],
  ["a 4.7.x greeting", "", "450 4.7.1 come back later", 30],
  ["a 4.7.x to EHLO", "EHLO", "450 4.7.1 come back later", 30],
  ["a 4.7.x to MAIL", "MAIL", "451 4.7.500 Server busy", 30],
  ["a 4.7.1 to a recipient, as greylisting servers reply", "RCPT", "450 4.7.1 greylisted", 0],
  ["another deferral of MAIL", "MAIL", "451 4.3.0 a fault of ours", 0],
  ["a refusal for good", "", "554 5.7.1 go away", 0],
])(
  "the engine pauses after %s (%s, %s): a backoff of %i seconds",
  async (_, command, reply, seconds) => {
    expect(await getBackoff(command, reply)).toBe(seconds);
  },
);

test("a single process acquires no slot during a backoff, and one as soon as the backoff ends", async () => {
  const { world, later } = givenWorld();
  const slots = createLocalSlots(world);
  const slotKey = toSlotKey(hostAt("mx.example.com"));
  const first = await slots.acquire(slotKey);
  if (first.kind !== "acquired") throw new Error("no slot is free");

  await first.slot.release({ refusal: null, needsCooldown: true });

  expect(await slots.acquire(slotKey)).toMatchObject({ kind: "backoff", backoff: { ms: 5_000 } });
  later(5_000);
  expect((await slots.acquire(slotKey)).kind).toBe("acquired");
});

test("a single process acquires as many slots as the host allows, and a released slot again", async () => {
  const { world } = givenWorld();
  const slots = createLocalSlots(world);
  const slotKey = toSlotKey(hostAt("mx01.mail.icloud.com"));
  const first = await slots.acquire(slotKey);

  expect(slots.mayAcquire(slotKey)).toBe(false);
  expect((await slots.acquire(slotKey)).kind).toBe("full");
  if (first.kind === "acquired") await first.slot.release(null);

  expect((await slots.acquire(slotKey)).kind).toBe("acquired");
});

import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { describe, expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { askAll, givenCluster, hostAt, kind } from "./cluster.ts";
import {
  accept,
  askMany,
  countResults,
  GOOGLE,
  givenProviders,
  HOUR_MS,
  hostsOf,
  OUTLOOK,
  type ServerReply,
} from "./refusing-providers.ts";

// A throttle is a 4xx about us: the server turns us away for now, whichever the recipient.

const MINUTE_MS = 60_000;
const OTHER = hostsOf("mx.example.com");

const GMAIL =
  "421-4.7.28 Gmail has detected an unusual rate of mail originating from your IP address. | 421 4.7.28 It has been temporarily rate limited";
const TSS04 =
  "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints";
const BUSY = "451 4.7.500 Server busy. Please try again later from [192.0.2.1].";
const NO_PTR = "450 4.7.25 Client host rejected: cannot find your reverse hostname, [192.0.2.1]";
const MANY = "421 4.7.1 Too many connections from 192.0.2.1";

const throttleAt =
  (command: "" | "MAIL" | "RCPT", reply: string): ServerReply =>
  (line) =>
    (command === "" ? line.line === "" : line.line.startsWith(command))
      ? reply.replaceAll(" | ", "\r\n")
      : accept(line);

/** The attempts of one list's rows: at once, and after the waits of a throttle. */
const WAVES_MINUTES = [0, 15, 75, 315];

describe.each([
  ["Gmail's at RCPT", GOOGLE, "RCPT", GMAIL],
  ["Yahoo's at the greeting", hostsOf("mta5.am0.yahoodns.net"), "", TSS04],
  ["Microsoft's at MAIL", OUTLOOK, "MAIL", BUSY],
  ["Microsoft's at RCPT", OUTLOOK, "RCPT", BUSY],
  ["a missing PTR at RCPT", OTHER, "RCPT", NO_PTR],
  ["too many connections at the greeting", OTHER, "", MANY],
] as const)("a throttle without an end: %s", (_, hosts, command, reply) => {
  test("300 rows wait during a throttle without an end, with at most 20 sessions in six hours", async () => {
    const { probe, sessions, world } = givenProviders(throttleAt(command, reply));
    const startMs = world.now().getTime();
    for (const minutes of WAVES_MINUTES) {
      await world.sleep(startMs + minutes * MINUTE_MS - world.now().getTime());
      const results = await askMany(probe, 300, hosts);
      expect(results.every(({ finding }) => finding.verdict === "unknown")).toBe(true);
      expect(results.every(({ finding }) => finding.retry === "later")).toBe(true);
    }

    expect(sessions.length).toBeLessThanOrEqual(20);
  });

  test("a throttle without an end causes as few sessions for 60 domains", async () => {
    const { probe, sessions, world } = givenProviders(throttleAt(command, reply));
    const startMs = world.now().getTime();
    const domain = (n: number) => `company${n}.example`;
    for (const minutes of WAVES_MINUTES) {
      await world.sleep(startMs + minutes * MINUTE_MS - world.now().getTime());
      await askMany(probe, 60, hosts, { domain });
    }

    expect(sessions.length).toBeLessThanOrEqual(20);
  });
});

test("a throttle that ends is over for all rows at the next attempt", async () => {
  let isThrottled = true;
  const { probe, world } = givenProviders((line) =>
    (isThrottled ? throttleAt("RCPT", GMAIL) : accept)(line),
  );
  await askMany(probe, 300, GOOGLE);
  isThrottled = false;
  await world.sleep(16 * MINUTE_MS);

  expect(countResults(await askMany(probe, 300, GOOGLE))).toEqual({ "valid accepted": 300 });
});

test("a server that is busy for two sessions admits the third one, and every row gets its verdict", async () => {
  const { probe } = givenProviders((line) =>
    line.session < 3 && line.line.startsWith("MAIL") ? BUSY : accept(line),
  );

  const counts = countResults(await askMany(probe, 50, OUTLOOK));

  expect(counts["valid accepted"]).toBe(50);
});

test("a server that takes two sessions at once gets no pause of a quarter of an hour", async () => {
  let open = 0;
  const taken = new Set<number>();
  const { probe, circuits, sessions } = givenProviders((line) => {
    if (line.line === "" && open === 2) return MANY;
    if (line.line === "") taken.add(line.session);
    if (line.line === "QUIT") taken.delete(line.session);
    open = taken.size;
    return accept(line);
  });

  const counts = countResults(await askMany(probe, 200, OTHER));

  expect(counts["valid accepted"]).toBe(200);
  expect(circuits()).toEqual([]);
  expect(sessions.length).toBeLessThan(100);
});

test("a domain that throttles by its own choice does not close its provider to others", async () => {
  const { probe } = givenProviders((line) =>
    line.line.startsWith("RCPT") && line.line.includes("@strict.example")
      ? "450 4.7.1 Client host rejected: your IP address is temporarily deferred"
      : accept(line),
  );
  const domain = (n: number) => (n % 5 === 0 ? "strict.example" : `company${n}.example`);

  const counts = countResults(await askMany(probe, 200, GOOGLE, { domain }));

  expect(counts["valid accepted"]).toBe(160);
});

test("the pauses of a circuit after throttles equal those of rows: 15, 60 and 240 minutes", async () => {
  const { probe, circuits, world } = givenProviders(throttleAt("", TSS04));
  const pauses: number[] = [];
  for (let wave = 0; wave < 4; wave++) {
    await askMany(probe, 20, hostsOf("mta5.am0.yahoodns.net"));
    const pauseMs = Number(circuits()[0]?.["open_until"]) - world.now().getTime();
    pauses.push(Math.round(pauseMs / MINUTE_MS));
    await world.sleep(pauseMs);
  }

  expect(pauses).toEqual([15, 60, 240, 240]);
});

describe("a throttle with two exits", () => {
  const EXITS = ["192.0.2.8:1080", "192.0.2.9:1080"];

  test.each([
    ["the greeting", "", TSS04],
    ["RCPT", "RCPT", GMAIL],
  ] as const)(
    "the other exit takes the rows that are throttled at %s by one exit",
    async (_, command, reply) => {
      const { probe, sessions } = givenProviders(
        (line) => (line.exit === EXITS[0] ? throttleAt(command, reply)(line) : accept(line)),
        { exits: EXITS },
      );

      expect(countResults(await askMany(probe, 300, GOOGLE))).toEqual({ "valid accepted": 300 });
      expect(sessions.filter(({ exit }) => exit === EXITS[0]).length).toBeLessThanOrEqual(20);
    },
  );
});

test("an address gets a final result during a block of hours, and another attempt after a throttle", async () => {
  const block = givenProviders(throttleAt("", "554 5.7.1 192.0.2.1 is on our block list"));
  const throttle = givenProviders(throttleAt("", TSS04));
  for (const { probe } of [block, throttle]) await askMany(probe, 300, GOOGLE);
  await block.world.sleep(HOUR_MS / 2);
  await throttle.world.sleep(10 * MINUTE_MS);

  const [blocked] = await askMany(block.probe, 1, GOOGLE);
  const [throttled] = await askMany(throttle.probe, 1, GOOGLE);

  expect(blocked).toMatchObject({ isWithheld: true, finding: { retry: null } });
  expect(throttled).toMatchObject({ isWithheld: true, finding: { retry: "later" } });
});

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

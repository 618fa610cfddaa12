import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import {
  createTurnHolder,
  type SlotRequest,
  toSlotKey,
} from "@mailproof/core/smtp-pool/slots/slots";
import { describe, expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { givenDistantHost, type HostSession } from "./distant-host.ts";

// Goal: how many addresses a second a mail host 20 ms away takes from us, and at how many sessions.
// Method: virtual time, so the figures are counts of round trips, the same on every machine.

const RANDOM_RECIPIENT = /^[a-z][a-z0-9]{19}@/;
const GOOGLE = "aspmx.l.google.com";

const getDomain = (recipient: string) => recipient.slice(recipient.indexOf("@") + 1);
const isDead = (recipient: string) => /^person\d*7@/.test(recipient);
const rcpt = (recipient: string) =>
  RANDOM_RECIPIENT.test(recipient) || isDead(recipient) ? "550 5.1.1 no such user" : "250 2.1.5 OK";

/** support.google.com/a/answer/3726730: a transaction takes the recipients of one domain. */
const rcptOfOneDomain = (recipient: string, { taken }: HostSession) =>
  taken.some((other) => getDomain(other) !== getDomain(recipient))
    ? "451-4.3.0 Multiple destination domains per transaction is unsupported.  Please try | 451 4.3.0 again."
    : rcpt(recipient);

/** Domain by domain, or in turns. */
const listPeople = (count: number, domains: number, order: "grouped" | "mixed") =>
  Array.from({ length: count }, (_, n) => {
    const domain = order === "mixed" ? n % domains : Math.floor((n * domains) / count);
    return `person${n}@d${domain}.example`;
  });

type Answer = { readonly finding: { readonly verdict: string }; readonly catchAll: string };

/** "alive valid no": what is true of an address, its verdict, and whether its domain is a catch-all. */
const summarize = (people: readonly string[], answers: readonly Answer[]) =>
  new Set(
    answers.map(({ finding: { verdict }, catchAll }, n) =>
      isDead(people[n] ?? "") ? `dead ${verdict}` : `alive ${verdict} ${catchAll}`,
    ),
  );
const ALIVE = "alive valid no";
const DEAD = "dead invalid";

describe("one mail host and ten connections", () => {
  const people = listPeople(2_500, 1, "grouped")
    .filter((one) => !isDead(one))
    .slice(0, 2_000);

  test("the session verifies more than 450 addresses a second with one command at a time", async () => {
    const { askAll, counts } = givenDistantHost({ rcpt, extensions: [] });

    const { answers, perSecond } = await askAll(people);

    expect(summarize(people, answers)).toEqual(new Set([ALIVE]));
    expect(perSecond).toBeGreaterThan(450);
    expect(counts).toMatchObject({ peak: 10, linesMost: 1 });
  });

  test("the session verifies more than 900 addresses a second with PIPELINING, nine recipients at once", async () => {
    const { askAll, counts } = givenDistantHost({ rcpt });

    const { answers, perSecond } = await askAll(people);

    expect(summarize(people, answers)).toEqual(new Set([ALIVE]));
    expect(perSecond).toBeGreaterThan(900);
    expect((counts.sessions * 1_000) / people.length).toBeLessThanOrEqual(12);
    expect(counts.peak).toBe(10);
    // RSET and MAIL on top.
    expect(counts.linesMost).toBeLessThanOrEqual(11);
  });
});

describe.each(["grouped", "mixed"] as const)(
  "400 Workspace addresses of 200 domains, %s",
  (order) => {
    const people = listPeople(400, 200, order);

    test("400 Workspace addresses get the right verdicts at more than 240 a second", async () => {
      const { askAll, counts } = givenDistantHost({ host: GOOGLE, rcpt: rcptOfOneDomain });

      const { answers, perSecond } = await askAll(people);

      expect(summarize(people, answers)).toEqual(new Set([ALIVE, DEAD]));
      expect(perSecond).toBeGreaterThan(240);
      expect(counts.peak).toBe(5);
    });

    test.each([
      ["flights", ["PIPELINING"]],
      ["one command at a time", []],
    ])(
      "the engine learns that a host without an entry takes one domain only: %s",
      async (_, extensions) => {
        const { askAll } = givenDistantHost({ rcpt: rcptOfOneDomain, extensions });

        expect(summarize(people, (await askAll(people)).answers)).toEqual(new Set([ALIVE, DEAD]));
      },
    );
  },
);

test("a host that breaks PIPELINING gets one command at a time, and a new try now and then", async () => {
  const people = listPeople(2_500, 1, "grouped");
  const { askAll, counts } = givenDistantHost({ rcpt, breaksFlights: true });

  const { answers } = await askAll(people);

  expect(summarize(people, answers)).toEqual(new Set([ALIVE, DEAD]));
  // All ten connections at first, and then one session of twenty.
  expect(counts.severalAtOnce).toBeGreaterThan(10);
  expect(counts.severalAtOnce).toBeLessThan(10 + counts.sessions / 10);
});

test("50 people at outlook.fr, with one recipient per transaction, get results equal to outlook.com's", async () => {
  const people = Array.from({ length: 50 }, (_, n) => `person${n}@outlook.fr`);
  const { askAll } = givenDistantHost({
    host: "eur.olc.protection.outlook.com",
    rcpt: (recipient, { taken }) =>
      taken.length > 0 ? "452 4.5.3 Recipients belong to multiple regions ATTR38" : rcpt(recipient),
  });

  const { answers } = await askAll(people);

  expect(summarize(people, answers)).toEqual(new Set([ALIVE, DEAD]));
});

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

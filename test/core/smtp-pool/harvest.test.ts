import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { expect, test } from "vitest";
import { askAll, givenCluster, hostAt, kind, type ReplyFor, verdicts } from "./cluster.ts";

// Goal: a refusal of a recipient is no refusal of us. A mail server that refuses calmly is asked as fast as one that
// accepts, within its ten connections; one that takes us for a harvester is left alone for a while.

const UNKNOWN = "550 5.1.1 User unknown";
const LAG_MS = 20;

const givenServer = (rcpt: (session: number, nth: number) => string, seed = 1) => {
  const asked = new Map<number, number>();
  const replyTo: ReplyFor = (line, session) => {
    if (!line.startsWith("RCPT")) return kind(line, session);
    const nth = (asked.get(session) ?? 0) + 1;
    asked.set(session, nth);
    return rcpt(session, nth);
  };
  return givenCluster(1, replyTo, { slots: createLocalSlots, lag: LAG_MS, seed });
};

/** How long it takes to ask about so many, in milliseconds of virtual time. */
const durationOf = async (
  { engines, world }: ReturnType<typeof givenServer>,
  recipients: number,
): Promise<number> => {
  const beganAt = world.now().getTime();
  await askAll(engines, recipients);
  return world.now().getTime() - beganAt;
};

test("the engine asks a server that refuses all recipients nearly as fast as one that accepts them", async () => {
  const refusing = givenServer(() => UNKNOWN);

  const refusedMs = await durationOf(refusing, 1_000);
  const acceptedMs = await durationOf(
    givenCluster(1, kind, { slots: createLocalSlots, lag: LAG_MS }),
    1_000,
  );

  expect(refusedMs / acceptedMs).toBeLessThan(2);
  expect(refusing.peaks.get("192.0.2.1")).toBe(10);
});

test("each session at a server that refuses all ends before the tenth refusal, and the next begins at once", async () => {
  const perSession = new Map<number, number>();
  const { engines, sessions } = givenServer((session, nth) => {
    perSession.set(session, nth);
    return UNKNOWN;
  });

  const answers = await askAll(engines, 450);

  expect(verdicts(answers)).toEqual(["invalid mailbox_not_found"]);
  expect(Math.max(...perSession.values())).toBe(9);
  expect(sessions).toHaveLength(50);
  const startedAt = sessions.map(({ atMs }) => atMs);
  const pauses = startedAt.slice(1).map((at, n) => at - (startedAt[n] ?? 0));
  expect(Math.max(...pauses)).toBeLessThan(1_000);
});

test.each([
  "421 4.7.0 mx.example.com Too many bad recipients; closing connection",
  "421 too many invalid addresses, goodbye (#4.7.1)",
  "450 4.7.1 Error: too many recipients from 198.51.100.7",
  "451 4.7.0 Error: too many unknown recipients, try again later",
  "452 4.5.3 Too many invalid recipients",
  "550 5.5.3 Too many unknown users, closing",
  "550 Too many invalid recipients",
  "550 5.7.1 Directory harvest attack detected",
  "550 5.7.1 Excessive userid unknowns from 198.51.100.7",
  "554 This IP has been temporarily blocked for attempting to mail too many invalid recipients. IB112",
  "550 SC-002 Mail rejected for policy reasons: the server has exhibited namespace mining behavior",
])("a server that replies %j to a recipient gets no session for half a minute", async (reply) => {
  const { engines, sessions } = givenServer((session, nth) =>
    session === 1 && nth > 4 ? reply : UNKNOWN,
  );

  const answers = await askAll(engines, 8);

  expect(verdicts(answers)).toEqual(["invalid mailbox_not_found"]);
  const [first, second, ...more] = sessions;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(30_000);
  expect(more).toEqual([]);
});

test.each(["MAIL", "EHLO"])(
  "a server that blocks a harvest in its reply to %s gets no session for half a minute",
  async (command) => {
    const reply = "550 5.7.1 Blocked after a directory harvest attack";
    const { engines, sessions } = givenCluster(
      1,
      (line, session) => (session === 1 && line.startsWith(command) ? reply : kind(line, session)),
      { slots: createLocalSlots },
    );

    expect(verdicts(await askAll(engines, 1))).toEqual(["unknown directory_harvest"]);
    await askAll(engines, 1);

    const [first, second] = sessions;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(30_000);
  },
);

test("a server that keeps taking us for a harvester gets a few sessions, and no address becomes invalid by it", async () => {
  const { engines, sessions } = givenServer(() => "550 5.1.1 User unknown; too many unknown users");

  const answers = await askAll(engines, 300);

  expect(verdicts(answers)).toEqual(["unknown directory_harvest"]);
  // The pause that follows is longer than any wait of a row.
  expect(answers.filter(({ finding }) => finding.retry !== null).length).toBeLessThanOrEqual(20);
  expect(sessions.length).toBeLessThanOrEqual(20);
});

test("a server that hangs up during a session gets a pause before the next one", async () => {
  const { engines, sessions } = givenServer((session, nth) =>
    session === 1 && nth > 4 ? "" : UNKNOWN,
  );

  await askAll(engines, 8);

  const [first, second] = sessions;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(5_000);
});

test("900 dead addresses at as many domains of one server cost less than three reads each", async () => {
  const { engines, table } = givenServer(() => UNKNOWN);
  const get = table.get.bind(table);
  let reads = 0;
  table.get = (key) => {
    reads++;
    return get(key);
  };
  const [probe] = engines;
  if (!probe) throw new Error("a cluster without an engine");
  const hosts = [hostAt("mx.example.com")];

  await Promise.all(
    Array.from({ length: 900 }, (_, n) =>
      probe({
        recipient: `ann@d${n}.example`,
        domain: `d${n}.example`,
        hosts,
        probeCatchAll: true,
      }),
    ),
  );

  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(3 * 900);
});

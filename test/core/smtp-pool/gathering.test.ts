import { CHUNK_ROWS } from "@mailproof/core/ports/settings";
import { CHUNKS_QUEUE } from "@mailproof/core/rows/chunk-messages";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { expect, test } from "vitest";
import { givenBusyHosts, type Host, ONE_HOST, ownHost } from "./busy-hosts.ts";
import { askAll, givenCluster, hostAt, kind, type ReplyFor, verdicts } from "./cluster.ts";

// Single verifications at one mail host that arrive within some tens of milliseconds, in virtual time. Every reply takes
// 100 ms.

const GMAIL: Host = {
  domain: "gmail.com",
  host: "gmail-smtp-in.l.google.com",
  ip: "192.0.2.20",
};
/** Greeting, EHLO, MAIL, RCPT, the reply to RSET, QUIT. */
const aloneMs = async (at: Host): Promise<number> => {
  const { ask } = givenBusyHosts();
  return (await ask("alone", "caller", "ann", at)).waitedMs;
};

/** One caller each `everyMs`. */
const whenCalled = async (count: number, everyMs: number, at: Host) => {
  const hosts = givenBusyHosts();
  const calls = Array.from({ length: count }, async (_, n) => {
    await hosts.world.sleep(n * everyMs);
    return hosts.ask(`account${n % 7}`, "caller", `call${n}`, at);
  });
  const waits = (await Promise.all(calls)).map(({ waitedMs }) => waitedMs);
  return { waits, sessions: hosts.sessions(), verdicts: hosts.answered };
};

test("200 callers at Gmail within 0.2 seconds share at most 25 sessions", async () => {
  const { sessions, verdicts } = await whenCalled(200, 1, GMAIL);

  expect(new Set(verdicts.map(({ answer }) => answer.finding.verdict))).toEqual(new Set(["valid"]));
  expect(sessions).toBeLessThanOrEqual(25);
});

test("callers that arrive a few milliseconds apart share two sessions: the first caller's and a common one", async () => {
  const { sessions } = await whenCalled(6, 5, ONE_HOST);

  expect(sessions).toBe(2);
});

test("a lone caller starts without a wait, and so does a caller who arrives after the session", async () => {
  const once = await aloneMs(ONE_HOST);
  const { waits, sessions } = await whenCalled(5, once + 1, ONE_HOST);

  expect(waits).toEqual(Array(5).fill(once));
  expect(sessions).toBe(5);
});

test("a caller who arrives during another's session waits no longer than the pause that collects recipients", async () => {
  const { ask, world } = givenBusyHosts();
  const first = ask("ann", "caller", "ann", ONE_HOST);
  await world.sleep(5);

  const { waitedMs } = await ask("bo", "caller", "bo", ONE_HOST);

  expect(waitedMs - (await first).waitedMs).toBeLessThanOrEqual(30);
});

test("a full batch of recipients starts without waiting for more", async () => {
  const { askMany, sessions, world } = givenBusyHosts();
  void askMany("ann", "caller", 1, () => ONE_HOST);
  await world.sleep(2);
  void askMany("bo", "caller", 10, () => ONE_HOST);
  await world.sleep(2);

  expect(sessions()).toBe(2);
});

/** A row of a list every 150 ms at one host, beside so many others at hosts of their own. */
const whenRowsTrickle = async (others: number) => {
  const { ask, askMany, sessions, world } = givenBusyHosts();
  const busy = Array.from({ length: 20 }, async (_, n) => {
    await world.sleep(n * 300);
    await askMany("file", "list", others, (at) => ownHost(n * others + at));
  });
  const rows = Array.from({ length: 30 }, async (_, n) => {
    await world.sleep(n * 150);
    return ask("file", "list", `row${n}`, ONE_HOST);
  });
  const waits = (await Promise.all(rows)).map(({ waitedMs }) => waitedMs);
  await Promise.all(busy);
  return { longestMs: Math.max(...waits), sessions: sessions() - 20 * others };
};

test("the rows of a list with many sessions wait for a common session instead of taking one each", async () => {
  const many = await whenRowsTrickle(30);
  const few = await whenRowsTrickle(0);

  expect(many.sessions).toBeLessThan(few.sessions / 1.5);
  expect(many.longestMs).toBeLessThanOrEqual(few.longestMs + 600);
});

/** A file with as many rows in progress as an account may have, on a thread that takes some time for each row. */
const whenFileRuns = async (rows: number, rowMs: number) => {
  let [freeAtMs, askedAtMs] = [0, 0];
  const hasTime = (): boolean => {
    if (atMs() < askedAtMs + 50) return false;
    askedAtMs = atMs();
    return freeAtMs < askedAtMs;
  };
  const { ask, atMs, sessions, looks, world } = givenBusyHosts({ replyMs: 20, hasTime });
  let next = 0;
  const runRow = async (row: number): Promise<void> => {
    await ask("file", "list", `row${row}`, ownHost((row * 7919 + Math.floor(row / 7)) % 200));
    freeAtMs = Math.max(freeAtMs, atMs()) + rowMs;
    await world.sleep(freeAtMs - atMs());
  };
  const runChunks = async (): Promise<void> => {
    for (let from = next; from < rows; from = next) {
      next += CHUNK_ROWS.file;
      await Promise.all(Array.from({ length: CHUNK_ROWS.file }, (_, n) => runRow(from + n)));
    }
  };
  const chunks = CHUNKS_QUEUE.concurrency / 2 / CHUNK_ROWS.file;
  await Promise.all(Array.from({ length: chunks }, runChunks));
  return { sessions: (sessions() * 1_000) / rows, looks: looks() / sessions() };
};

test.each([0.5, 3])(
  "a long list at 200 hosts opens at most 40 sessions for 1,000 rows, and for each looks at few queues, where a row takes the thread %s ms",
  async (rowMs) => {
    const { sessions, looks } = await whenFileRuns(12_000, rowMs);

    expect(sessions).toBeLessThanOrEqual(40);
    expect(looks).toBeLessThanOrEqual(10);
  },
);

test("a long list continues, and a short list does not wait, while the thread has no time", async () => {
  const { ask, askMany } = givenBusyHosts({ hasTime: () => false });
  const long = askMany("file", "list", 150, ownHost);

  const { waitedMs } = await ask("short", "list", "row", ONE_HOST);

  expect(waitedMs).toBe(await aloneMs(ONE_HOST));
  expect(await long).toHaveLength(150);
});

test.each([
  ["its own rows gather", "file", "list", true],
  ["another account does not wait", "ann", "list", false],
  ["a caller does not wait", "file", "caller", false],
] as const)(
  "after a session of a list with many sessions, %s",
  async (_, account, priority, isWaiting) => {
    const { ask, askMany } = givenBusyHosts();
    void askMany("file", "list", 120, (n) => ownHost(n % 60));
    await ask("file", "list", "row", ONE_HOST);

    const { waitedMs } = await ask(account, priority, "next", ONE_HOST);

    expect(waitedMs > (await aloneMs(ONE_HOST))).toBe(isWaiting);
  },
);

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

import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { cacheDns } from "@mailproof/mail/dns/cache";
import type { Dns } from "@mailproof/mail/dns/dns";
import { createLists } from "@mailproof/mail/lists/lists";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { START } from "../app/given.ts";
import { createVirtualTime } from "../app/virtual-time.ts";
import { memoryTable } from "../simulation/memory-table.ts";
import { createRandom } from "../simulation/random.ts";

// An account asks about a domain and guesses from the answer, and from how long it took, whether another account asked
// before. In virtual time: a resolver that is slow the first time, and a mail server that takes its time for each command.

const TRIALS = 160;
const MINUTE_MS = 60_000;
const RANDOM_RECIPIENT = /^RCPT TO:<[a-z][a-z0-9]{19}@/;

/** Some milliseconds that belong to a name: the same each time. */
const between = (least: number, most: number, name: string): number =>
  least +
  Math.floor(
    createRandom(Number.parseInt(name.replaceAll(/\D/g, "") || "1", 10))() * (most - least),
  );

const setup = (reply: string) => {
  const { now, later, sleep } = createVirtualTime(START);
  const random = createRandom(7);
  const resolved = new Set<string>();
  const resolver: Dns = async (type, name) => {
    const isCold = !resolved.has(`${type} ${name}`);
    await sleep(isCold ? between(20, 120, `${name}${type.length}`) : 1);
    resolved.add(`${type} ${name}`);
    const records = type === "MX" ? [{ priority: 10, exchange: `mx.${name}` }] : ["8.8.8.8"];
    return { kind: "ok", records } as never;
  };
  const connect: SmtpConnect = async ({ host }) => {
    let next = "220 hi";
    return {
      send: (line) => {
        next = RANDOM_RECIPIENT.test(line) ? reply : "250 ok";
      },
      receive: async () => {
        await sleep(between(10, 40, host));
        return createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed";
      },
      startTls: async () => "tls_failed",
      close: async () => undefined,
    };
  };
  const engine = createEngine({
    dns: cacheDns(resolver, { now, bytesMax: 1e7 }),
    connect,
    table: memoryTable(now),
    lists: createLists(),
    allowed: [],
    smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    slots: createLocalSlots({ now }),
    now,
    random,
    sleep,
  });
  return { engine, now, later, random };
};

type Seen = { readonly ms: number; readonly isRandomAsked: boolean };

const probeOnce = async (
  { engine, now }: { readonly engine: Engine; readonly now: () => Date },
  account: string,
  email: string,
): Promise<Seen> => {
  const startedMs = now().getTime();
  const requester = { account, priority: "caller" } as const;
  const wanted = { deepVerify: true, includeAi: false, includeEvidence: true, requester };
  const { evidence, status } = await verify(engine, email, wanted);
  expect(["valid", "catch_all"]).toContain(status);
  const transcript = evidence?.transcript ?? [];
  const isRandomProbed = transcript.some(({ text }) => RANDOM_RECIPIENT.test(text));
  return { ms: now().getTime() - startedMs, isRandomAsked: isRandomProbed };
};

/** Of the second half of the trials, how many are guessed right by the best rule that the first half teaches. */
const rightGuesses = (trials: readonly { readonly seen: number; readonly isAsked: boolean }[]) => {
  const [trainingTrials, guessedTrials] = [trials.slice(0, TRIALS / 2), trials.slice(TRIALS / 2)];
  const rightBelow = (some: typeof trials, limit: number) =>
    some.filter(({ seen, isAsked }) => seen < limit === isAsked).length;
  const best = trainingTrials
    .map(({ seen }) => seen + 0.5)
    .toSorted((a, b) => rightBelow(trainingTrials, b) - rightBelow(trainingTrials, a))[0];
  return rightBelow(guessedTrials, best ?? 0);
};

/** The observer asks about new domains; a coin says which of them the other account asked about before. */
const observe = async (other: string, agoMs: number, reply = "550 5.1.1 no such user") => {
  const ctx = setup(reply);
  const trials: { isAsked: boolean; seen: Seen }[] = [];
  for (let n = 0; n < TRIALS; n += 1) {
    const isAsked = ctx.random() < 0.5;
    if (isAsked) await probeOnce(ctx, other, `ann@company${n}.com`);
    ctx.later(agoMs);
    trials.push({ isAsked, seen: await probeOnce(ctx, "observer", `bo@company${n}.com`) });
  }
  return {
    byTime: rightGuesses(trials.map(({ isAsked, seen }) => ({ isAsked, seen: seen.ms }))),
    byEvidence: rightGuesses(
      trials.map(({ isAsked, seen }) => ({ isAsked, seen: Number(seen.isRandomAsked) })),
    ),
  };
};

const HALF = TRIALS / 4;
/** Three standard deviations of 80 tosses of a coin. */
const CHANCE = 14;

test.each([
  ["a moment", 1],
  ["ten minutes", 10 * MINUTE_MS],
  ["three hours", 180 * MINUTE_MS],
])(
  "response times reveal no better than chance whether another account asked %s before",
  async (_, agoMs) => {
    const { byTime, byEvidence } = await observe("other", agoMs);

    expect(Math.abs(byTime - HALF)).toBeLessThanOrEqual(CHANCE);
    expect(Math.abs(byEvidence - HALF)).toBeLessThanOrEqual(CHANCE);
  },
);

test("response times reveal to an account its own earlier requests", async () => {
  // Of what an account learns itself, only a catch-all is kept.
  const { byTime, byEvidence } = await observe("observer", 10 * MINUTE_MS, "250 ok");

  expect(byTime).toBeGreaterThan(HALF + 2 * CHANCE);
  expect(byEvidence).toBe(TRIALS / 2);
});

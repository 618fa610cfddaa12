import { createDialogue } from "@mailproof/mail/smtp/dialogue";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SessionPlan, SessionResult } from "@mailproof/mail/smtp/session";
import type { ReplyOrFault } from "@mailproof/mail/smtp/wire";
import fc from "fast-check";
import { expect, test } from "vitest";

// Goal: whatever a server takes in one transaction and whenever it hangs up, sessions after sessions get every recipient
// its own reply, within the limits.
// Method: drawn servers and lists. The server counts what it is asked; sessions follow until no recipient remains.

const toReply = (text: string): ReplyOrFault =>
  createReplyReader()(Buffer.from(`${text}\r\n`))[0] ?? "closed";

const getDomain = (recipient: string) => recipient.slice(recipient.indexOf("@") + 1);
const isRandom = (recipient: string) => recipient.startsWith("zq@");

const drawServer = fc.record({
  pipelines: fc.boolean(),
  /** As many as it accepts in one transaction. */
  recipientsMost: fc.integer({ min: 1, max: 6 }),
  oneDomain: fc.boolean(),
  /** It hangs up after so many commands of a session, session by session; then no more. */
  patience: fc.array(fc.integer({ min: 3, max: 25 }), { maxLength: 4 }),
  goodbye: fc.constantFrom("closed", "timeout", "421 4.3.2 restarting"),
});
type DrawnServer = typeof drawServer extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** "x…" does not exist, "g…" is greylisted. */
const drawRecipients = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom("a", "b", "x", "g"), fc.nat(20), fc.constantFrom("a", "b", "c"))
    .map(([kind, number, domain]) => `${kind}${number}@${domain}.example`),
  { minLength: 1, maxLength: 25 },
);
const drawLimits = fc.record({
  recipientsPerTransaction: fc.integer({ min: 1, max: 10 }),
  oneDomainPerTransaction: fc.boolean(),
  recipientsPerConnection: fc.integer({ min: 1, max: 30 }),
  rejectionsPerConnection: fc.integer({ min: 2, max: 9 }),
  connections: fc.constant(1),
});

const getTruth = (recipient: string): string => {
  if (recipient.startsWith("g")) return "450 4.7.1 Greylisted, come back later";
  return isRandom(recipient) || recipient.startsWith("x") ? "550 5.1.1 no such user" : "250 OK";
};

/** One session, played to its end. Breaks what the plan forbids into an error. */
const holdSession = (
  { pipelines, recipientsMost, oneDomain, goodbye }: DrawnServer,
  plan: SessionPlan,
  patience: number,
): SessionResult => {
  const { limits } = plan;
  let transaction: { readonly named: string[]; readonly taken: string[] } | null = null;
  const named: string[] = [];
  let rejections = 0;
  let commands = 0;

  const nameRecipient = (recipient: string): string => {
    if (!transaction) return "503 5.5.1 need MAIL";
    transaction.named.push(recipient);
    named.push(recipient);
    expect(transaction.named.length).toBeLessThanOrEqual(limits.recipientsPerTransaction);
    if (limits.oneDomainPerTransaction)
      expect(new Set(transaction.named.map(getDomain)).size).toBe(1);
    if (isRandom(recipient))
      expect(named.some((one) => !isRandom(one) && getDomain(one) === getDomain(recipient))).toBe(
        true,
      );
    if (transaction.taken.length >= recipientsMost) return "452 4.5.3 Too many recipients";
    if (oneDomain && transaction.taken.some((one) => getDomain(one) !== getDomain(recipient)))
      return "451 4.3.0 Multiple destination domains per transaction is unsupported";
    const truth = getTruth(recipient);
    if (truth.startsWith("250")) transaction.taken.push(recipient);
    else rejections += 1;
    return truth;
  };

  const answer = (line: string | null): string => {
    if (line === null) return "220 mx";
    if (line.startsWith("EHLO")) return pipelines ? "250-mx\r\n250 PIPELINING" : "250 mx";
    if (line === "QUIT") return "221 bye";
    if (line.startsWith("MAIL")) {
      expect(transaction).toBeNull();
      transaction = { named: [], taken: [] };
    }
    if (line === "RSET") transaction = null;
    const recipient = /^RCPT TO:<(.*)>$/.exec(line)?.[1];
    return recipient === undefined ? "250 OK" : nameRecipient(recipient);
  };

  const dialogue = createDialogue(plan);
  let step = dialogue.next();
  while (!step.done) {
    if (!pipelines || plan.pipelining === false) expect(step.value).toHaveLength(1);
    const replies: ReplyOrFault[] = [];
    for (const { line } of step.value) {
      const isOver = ++commands > patience;
      const text = isOver ? goodbye : answer(line);
      replies.push(/^\d/.test(text) ? toReply(text) : (text as ReplyOrFault));
      if (isOver) break;
    }
    step = dialogue.next(replies);
  }
  // The random recipients of those that were deferred together come on top.
  const isGreylisting = named.some((one) => one.startsWith("g"));
  expect(rejections).toBeLessThanOrEqual(limits.rejectionsPerConnection * (isGreylisting ? 2 : 1));
  const recipients = named.filter((one) => !isRandom(one));
  expect(recipients.length).toBeLessThanOrEqual(limits.recipientsPerConnection);
  return step.value;
};

const RUNS = 400;

test("every recipient gets its own reply in the end, within the limits of each session", () => {
  fc.assert(
    fc.property(drawServer, drawRecipients, drawLimits, (server, all, limits) => {
      const found = new Map<string, string>();
      const probed = new Set<string>();
      let remaining: readonly string[] = all;
      let mayPipeline = true;
      for (let session = 0; remaining.length > 0; session++) {
        expect(session, "sessions without end").toBeLessThan(150);
        const randoms = ["a", "b", "c"].map((name) => `${name}.example`);
        const result = holdSession(
          server,
          {
            helo: "probe.example",
            from: "probe@probe.example",
            mxHost: "mx.example",
            recipients: remaining,
            randomRecipients: new Map(
              randoms.filter((name) => !probed.has(name)).map((name) => [name, `zq@${name}`]),
            ),
            limits,
            tls: false,
            pipelining: mayPipeline,
          },
          server.patience[session] ?? Number.POSITIVE_INFINITY,
        );
        const reached = result.recipients.map(({ recipient }) => recipient);
        expect([...reached, ...result.remaining]).toEqual(remaining);
        for (const { recipient, reply, fault } of result.recipients)
          found.set(recipient, String(reply?.code ?? fault));
        for (const { domain, reply } of result.catchAllProbes)
          if (reply?.code === 550) probed.add(domain);
        if (result.closedBy === "lost") mayPipeline = false;
        remaining = result.remaining;
      }
      for (const recipient of all) {
        const isTrue = found.get(recipient) === getTruth(recipient).slice(0, 3);
        // The first recipient of a session that breaks has the fault, or the 421, as its outcome.
        const isBroken = ["closed", "timeout", "421"].includes(found.get(recipient) ?? "");
        expect(isTrue || isBroken, `${recipient}: ${found.get(recipient)}`).toBe(true);
      }
    }),
    { numRuns: RUNS, seed: 7 },
  );
});

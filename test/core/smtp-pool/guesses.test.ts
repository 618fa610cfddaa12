import { expect, test } from "vitest";
import { givenCluster, hostAt, kind, type ReplyFor } from "./cluster.ts";

// Goal: guesses at one person's address share the sessions, the limits and the pauses of all other questions.

const guess = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `guess${from + n}@example.com`);

const about = (recipients: readonly string[]) => {
  const [recipient = "", ...otherwise] = recipients;
  return {
    recipient,
    fallbacks: otherwise,
    domain: "example.com",
    hosts: [hostAt("mx.example.com")],
    probeCatchAll: true,
  };
};

/** Has one of the guesses as a mailbox, and records the recipients that it was asked about. */
const givenServer = (mailbox: string, more: ReplyFor = () => undefined) => {
  const asked: string[] = [];
  const cluster = givenCluster(1, (line, session) => {
    const [, local] = /^RCPT TO:<([^@]+)@/.exec(line) ?? [];
    if (local !== undefined) asked.push(local);
    const special = more(line, session);
    if (special !== undefined) return special;
    if (local?.startsWith("guess") && local !== mailbox) return "550 5.1.1 no such user";
    return kind(line, session);
  });
  const [probe] = cluster.engines;
  if (!probe) throw new Error("a cluster without an engine");
  return { ...cluster, probe, asked };
};

test("the session asks about guesses in order until the server accepts one", async () => {
  const { probe, asked, sessions } = givenServer("guess2");

  const answer = await probe(about(guess(0, 9)));

  expect(answer).toMatchObject({
    recipient: "guess2@example.com",
    unknownRecipients: ["guess0@example.com", "guess1@example.com"],
    catchAll: "no",
    finding: { verdict: "valid" },
  });
  expect(asked.slice(0, 3)).toEqual(["guess0", "guess1", "guess2"]);
  expect(asked).toHaveLength(4);
  expect(sessions).toHaveLength(1);
});

test("the engine asks about the remaining guesses over another connection after several refusals", async () => {
  const { probe, asked, sessions } = givenServer("guess11");

  const answer = await probe(about(guess(0, 14)));

  expect(answer.recipient).toBe("guess11@example.com");
  expect(answer.unknownRecipients).toEqual(guess(0, 11));
  expect(asked.filter((one) => one.startsWith("guess"))).toHaveLength(12);
  expect(sessions).toHaveLength(2);
});

test("a verification of a guessed address receives that address's result", async () => {
  const { probe } = givenServer("guess1");

  const [search, single] = await Promise.all([
    probe(about(guess(0, 3))),
    probe({ ...about(["guess0@example.com"]) }),
  ]);

  expect(search?.recipient).toBe("guess1@example.com");
  expect(single).toMatchObject({
    recipient: "guess0@example.com",
    unknownRecipients: [],
    finding: { verdict: "invalid" },
  });
});

test("a refusal of our sender proves nothing about any mailbox", async () => {
  const { probe, asked } = givenServer("", (line) =>
    line.startsWith("RCPT") ? "550 5.1.1 <probe@example.org>: user unknown" : undefined,
  );

  const answer = await probe(about(guess(0, 5)));

  expect(answer).toMatchObject({ unknownRecipients: [], finding: { reason: "sender_rejected" } });
  expect(asked).toEqual(["guess0"]);
});

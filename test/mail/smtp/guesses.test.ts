import type { FallbackRecipients, SessionResult } from "@mailproof/mail/smtp/session";
import { expect, test } from "vitest";
import { OPENED, play } from "./play.ts";

// Goal: guesses at one person's address cost a server no more recipients than it takes to find out.
// Method: transcripts, as in session.test.ts.

const isUnknownMailbox: FallbackRecipients["isUnknownRecipient"] = ({ reply }) =>
  reply?.enhanced?.startsWith("5.1.") ?? false;
const guesses = {
  byRecipient: [["al@a.example", "a.lee@a.example"]],
  isUnknownRecipient: isUnknownMailbox,
};

const summarize = ({
  recipients,
  unknownRecipients: unknown,
  remaining: unasked,
}: SessionResult) => ({
  settled: recipients.map(({ recipient, reply }) => `${recipient.split("@")[0]} ${reply?.code}`),
  unknownRecipients: unknown.map((one) => one.split("@")[0]),
  remaining: unasked.length,
});

test("a guess without a mailbox is followed by the next, and the first that has one ends it", () => {
  const result = play(
    { fallbacks: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 250 OK`,
  );

  expect(summarize(result)).toEqual({
    settled: ["al 250"],
    unknownRecipients: ["ann"],
    remaining: 0,
  });
});

test("the random recipient comes after the guess that was accepted, so a catch-all is asked about two", () => {
  const result = play(
    { fallbacks: guesses, randomRecipients: new Map([["a.example", "zq@a.example"]]) },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 250 OK
    C: RCPT TO:<zq@a.example>
    S: 250 OK`,
  );

  expect(summarize(result)).toEqual({ settled: ["ann 250"], unknownRecipients: [], remaining: 0 });
  expect(result.catchAllProbes).toMatchObject([{ reply: { code: 250 } }]);
});

test.each([
  ["a server that puts us off", "450 4.7.1 later", "ann 450"],
  ["a refusal of us", "550 5.7.1 blocked", "ann 550"],
  ["a full mailbox", "452 4.2.2 full", "ann 452"],
])("%s is not asked about the others", (_, reply, settled) => {
  const result = play({ fallbacks: guesses }, `${OPENED}\nC: RCPT TO:<ann@a.example>\nS: ${reply}`);

  expect(summarize(result)).toEqual({ settled: [settled], unknownRecipients: [], remaining: 0 });
});

test("where no guess has a mailbox, the last of them is the answer", () => {
  const result = play(
    { fallbacks: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<a.lee@a.example>
    S: 550 5.1.1 who?`,
  );

  expect(summarize(result)).toEqual({
    settled: ["a.lee 550"],
    unknownRecipients: ["ann", "al"],
    remaining: 0,
  });
});

test("a session with enough refusals leaves the other guesses to the next, and tells which have no mailbox", () => {
  const at = [["b@a.example", "c@a.example", "d@a.example", "e@a.example"]];
  const asked = ["ann", "b", "c", "d"].map(
    (name) => `C: RCPT TO:<${name}@a.example>\nS: 550 5.1.1 who?`,
  );

  const result = play(
    {
      recipients: ["ann@a.example", "zoe@a.example"],
      fallbacks: { byRecipient: at, isUnknownRecipient: isUnknownMailbox },
    },
    `${OPENED}\n${asked.join("\n")}`,
  );

  expect(summarize(result)).toEqual({
    settled: [],
    unknownRecipients: ["ann", "b", "c", "d"],
    remaining: 2,
  });
  expect(result.closedBy).toBe("limit");
});

test("a connection that breaks between two guesses leaves the second one open", () => {
  const result = play(
    { fallbacks: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    ! closed`,
  );

  expect(summarize(result)).toEqual({ settled: [], unknownRecipients: ["ann"], remaining: 1 });
});

test("others in the session are asked as ever", () => {
  const result = play(
    { recipients: ["ann@a.example", "bob@a.example"], fallbacks: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 250 OK
    C: RCPT TO:<bob@a.example>
    S: 550 5.1.1 who?`,
  );

  expect(summarize(result)).toEqual({
    settled: ["al 250", "bob 550"],
    unknownRecipients: ["ann"],
    remaining: 0,
  });
});

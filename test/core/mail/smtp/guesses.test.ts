import type { Otherwise, SessionResult } from "@mailproof/core/mail/smtp/session";
import { expect, test } from "vitest";
import { OPENED, play } from "./play.ts";

// Goal: guesses at one person's address cost a server no more recipients than it takes to find out.
// Method: transcripts, as in session.test.ts.

const isNobody: Otherwise["isNobody"] = ({ reply }) => reply?.enhanced?.startsWith("5.1.") ?? false;
const guesses = { at: [["al@a.example", "a.lee@a.example"]], isNobody };

const told = ({ recipients, nobody, unasked }: SessionResult) => ({
  settled: recipients.map(({ recipient, reply }) => `${recipient.split("@")[0]} ${reply?.code}`),
  nobody: nobody.map((one) => one.split("@")[0]),
  unasked: unasked.length,
});

test("a guess that is nobody's is followed by the next, and the first that is somebody's ends it", () => {
  const result = play(
    { otherwise: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 250 OK`,
  );

  expect(told(result)).toEqual({ settled: ["al 250"], nobody: ["ann"], unasked: 0 });
});

test("the decoy comes after the guess that was accepted, so a catch-all is asked about two", () => {
  const result = play(
    { otherwise: guesses, decoys: new Map([["a.example", "zq@a.example"]]) },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 250 OK
    C: RCPT TO:<zq@a.example>
    S: 250 OK`,
  );

  expect(told(result)).toEqual({ settled: ["ann 250"], nobody: [], unasked: 0 });
  expect(result.decoys).toMatchObject([{ reply: { code: 250 } }]);
});

test.each([
  ["a server that puts us off", "450 4.7.1 later", "ann 450"],
  ["a refusal of us", "550 5.7.1 blocked", "ann 550"],
  ["a full mailbox", "452 4.2.2 full", "ann 452"],
])("%s is not asked about the others", (_, reply, settled) => {
  const result = play({ otherwise: guesses }, `${OPENED}\nC: RCPT TO:<ann@a.example>\nS: ${reply}`);

  expect(told(result)).toEqual({ settled: [settled], nobody: [], unasked: 0 });
});

test("where all are nobody's, the last of them is the answer", () => {
  const result = play(
    { otherwise: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<a.lee@a.example>
    S: 550 5.1.1 who?`,
  );

  expect(told(result)).toEqual({ settled: ["a.lee 550"], nobody: ["ann", "al"], unasked: 0 });
});

test("a session with enough refusals leaves the other guesses to the next, and tells which are nobody's", () => {
  const at = [["b@a.example", "c@a.example", "d@a.example", "e@a.example"]];
  const asked = ["ann", "b", "c", "d"].map((name, place) => {
    const another =
      place === 3 ? "C: RSET\nS: 250 OK\nC: MAIL FROM:<probe@probe.example>\nS: 250 OK\n" : "";
    return `${another}C: RCPT TO:<${name}@a.example>\nS: 550 5.1.1 who?`;
  });

  const result = play(
    { recipients: ["ann@a.example", "zoe@a.example"], otherwise: { at, isNobody } },
    `${OPENED}\n${asked.join("\n")}`,
  );

  expect(told(result)).toEqual({ settled: [], nobody: ["ann", "b", "c", "d"], unasked: 2 });
  expect(result.closedBy).toBe("limit");
});

test("a connection that breaks between two guesses leaves the second one open", () => {
  const result = play(
    { otherwise: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    ! closed`,
  );

  expect(told(result)).toEqual({ settled: [], nobody: ["ann"], unasked: 1 });
});

test("others in the session are asked as ever", () => {
  const result = play(
    { recipients: ["ann@a.example", "bob@a.example"], otherwise: guesses },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 who?
    C: RCPT TO:<al@a.example>
    S: 250 OK
    C: RCPT TO:<bob@a.example>
    S: 550 5.1.1 who?`,
  );

  expect(told(result)).toEqual({ settled: ["al 250", "bob 550"], nobody: ["ann"], unasked: 0 });
});

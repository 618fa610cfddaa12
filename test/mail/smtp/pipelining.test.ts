import type { SessionPlan, SessionResult } from "@mailproof/mail/smtp/session";
import { expect, test } from "vitest";
import { play } from "./play.ts";

// Goal: where the server announces PIPELINING, a flight costs one round trip, and each reply is about its own recipient.
// Method: transcripts, as in session.test.ts. Lines that go out together stand together.

const HELLO = `
  S: 220 mx.a.example
  C: EHLO probe.example
  S: 250-mx.a.example | 250 PIPELINING`;
const MAIL = "C: MAIL FROM:<probe@probe.example>";

const limits = {
  recipientsPerTransaction: 50,
  oneDomainPerTransaction: false,
  recipientsPerConnection: 50,
  rejectionsPerConnection: 9,
  connections: 1,
};
const people = (count: number, domain = "a.example") =>
  Array.from({ length: count }, (_, n) => `p${n}@${domain}`);
const randomRecipients = new Map([
  ["a.example", "zq@a.example"],
  ["b.example", "zq@b.example"],
]);

const rcpt = (...recipients: readonly string[]) =>
  recipients.map((one) => `C: RCPT TO:<${one}>`).join("\n");
const replies = (...texts: readonly string[]) => texts.map((text) => `S: ${text}`).join("\n");
const times = (count: number, text: string) => Array.from({ length: count }, () => text);

const session = (overrides: Partial<SessionPlan>, ...flights: readonly string[]): SessionResult =>
  play({ limits, ...overrides }, [HELLO, ...flights].join("\n"));

const summarize = ({ recipients }: SessionResult) =>
  recipients.map(({ recipient, stage, reply, fault }) =>
    [recipient.split("@")[0], stage === "rcpt" ? null : stage, reply?.code ?? fault]
      .filter(Boolean)
      .join(" "),
  );

test("flights begin small and grow with accepted recipients", () => {
  const recipients = people(14);

  const result = session(
    { recipients },
    [MAIL, rcpt(...recipients.slice(0, 2)), replies(...times(3, "250 OK"))].join("\n"),
    [rcpt(...recipients.slice(2, 6)), replies(...times(4, "250 OK"))].join("\n"),
    [rcpt(...recipients.slice(6)), replies(...times(8, "250 OK"))].join("\n"),
  );

  expect(result).toMatchObject({ closedBy: "us", remaining: [] });
  expect(result.recipients).toHaveLength(14);
});

test("refused recipients stop the growth of flights, and a whole refused flight stays within the limits", () => {
  const recipients = people(12);
  const no = "550 5.1.1 no";
  const flight = (from: number, to: number) =>
    [rcpt(...recipients.slice(from, to)), replies(...times(to - from, no))].join("\n");

  const result = session(
    { recipients },
    [MAIL, rcpt(...recipients.slice(0, 2)), replies("250 OK", no, no)].join("\n"),
    flight(2, 4),
    flight(4, 6),
    flight(6, 8),
    flight(8, 9),
  );

  expect(result).toMatchObject({ closedBy: "limit", remaining: recipients.slice(9) });
});

test("a flight puts the recipient before the random recipient, and recipients of several domains share it", () => {
  const recipients = ["ann@a.example", "bob@b.example", "cid@a.example"];

  const result = session(
    { recipients, randomRecipients },
    [MAIL, rcpt("ann@a.example", "bob@b.example"), replies(...times(3, "250 OK"))].join("\n"),
    [
      rcpt("zq@a.example", "zq@b.example", "cid@a.example"),
      replies("550 5.1.1 no", "250 OK", "550 5.1.1 no"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250", "bob 250", "cid 550"]);
  expect(result.catchAllProbes.map(({ domain, reply }) => [domain, reply?.code])).toEqual([
    ["a.example", 550],
    ["b.example", 250],
  ]);
});

test("several transactions share a flight", () => {
  const recipients = ["ann@a.example", "bob@b.example"];

  const result = session(
    { recipients, limits: { ...limits, oneDomainPerTransaction: true } },
    [
      [MAIL, rcpt("ann@a.example"), "C: RSET", MAIL, rcpt("bob@b.example")].join("\n"),
      replies("250 OK", "250 OK", "250 OK", "250 OK", "550 5.1.1 no"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250", "bob 550"]);
});

test("a session sends guesses at one person's address one by one, and no other recipient with them", () => {
  const fallbacks = {
    byRecipient: [[], ["al@a.example"], []],
    isUnknownRecipient: ({ reply }: SessionResult["recipients"][number]) => reply?.code === 550,
  };

  const result = session(
    { recipients: ["bob@a.example", "ann@a.example", "cid@a.example"], fallbacks },
    [MAIL, rcpt("bob@a.example"), replies("250 OK", "250 OK")].join("\n"),
    [rcpt("ann@a.example"), replies("550 5.1.1 no")].join("\n"),
    [rcpt("al@a.example"), replies("250 OK")].join("\n"),
    [rcpt("cid@a.example"), replies("250 OK")].join("\n"),
  );

  expect(summarize(result)).toEqual(["bob 250", "al 250", "cid 250"]);
  expect(result.unknownRecipients).toEqual(["ann@a.example"]);
});

test("the session looks for a waiting caller before each flight", () => {
  const looked: number[] = [];
  const shouldEnd = (tried: number) => looked.push(tried) === 2;

  const result = session(
    { recipients: people(20), shouldEnd },
    [MAIL, rcpt("p0@a.example", "p1@a.example"), replies(...times(3, "250 OK"))].join("\n"),
    [rcpt(...people(6).slice(2)), replies(...times(4, "250 OK"))].join("\n"),
  );

  expect(looked).toEqual([2, 6]);
  expect(result).toMatchObject({ closedBy: "limit", remaining: people(20).slice(6) });
});

test("an extension offered in the clear does not count after STARTTLS", () => {
  const transcript = `S: 220 a
    C: EHLO probe.example
    S: 250-a | 250-PIPELINING | 250 STARTTLS
    C: STARTTLS
    S: 220 go
    C: EHLO probe.example
    S: 250 a
    ${MAIL}
    S: 250 OK
    ${rcpt("ann@a.example")}
    S: 250 OK`;

  expect(play({}, transcript).closedBy).toBe("us");
});

test("the session sends one command at a time to a caller that wants no flights", () => {
  const transcript = `${HELLO}\n${MAIL}\nS: 250 OK\n${rcpt("ann@a.example")}\nS: 250 OK`;

  expect(play({ pipelining: false }, transcript).closedBy).toBe("us");
});

test("a refused transaction in the middle of a flight leaves the later recipients unasked", () => {
  const recipients = ["ann@a.example", "bob@b.example"];

  const result = session(
    { recipients, limits: { ...limits, oneDomainPerTransaction: true } },
    [
      [MAIL, rcpt("ann@a.example"), "C: RSET", MAIL, rcpt("bob@b.example")].join("\n"),
      replies("250 OK", "250 OK", "250 OK", "450 4.7.1 enough", "503 5.5.1 need MAIL"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250"]);
  expect(result).toMatchObject({ closedBy: "refused", remaining: ["bob@b.example"] });
});

test("a transaction refused at the start of the session gives its reply to all recipients", () => {
  const result = session(
    { recipients: people(3) },
    [
      [MAIL, rcpt("p0@a.example", "p1@a.example")].join("\n"),
      replies("550 5.1.8 who", "503 5.5.1 need MAIL", "503 5.5.1 need MAIL"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["p0 mail 550", "p1 mail 550", "p2 mail 550"]);
});

const again = ["C: RSET", MAIL];

test("a full transaction in a flight leads to smaller ones, and the session repeats its later recipients", () => {
  const result = session(
    { recipients: people(4) },
    [MAIL, rcpt("p0@a.example", "p1@a.example"), replies(...times(3, "250 OK"))].join("\n"),
    [rcpt("p2@a.example", "p3@a.example"), replies("452 4.5.3 Too many recipients", "250 OK")].join(
      "\n",
    ),
    [
      [...again, rcpt("p2@a.example", "p3@a.example")].join("\n"),
      replies("250 OK", "250 OK", "550 5.1.1 no", "250 OK"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["p0 250", "p1 250", "p2 550", "p3 250"]);
});

test("a full transaction with mixed domains leads to transactions of one domain", () => {
  const recipients = ["ann@a.example", "bob@b.example", "cid@c.example"];

  const result = session(
    { recipients, randomRecipients },
    [
      [MAIL, rcpt("ann@a.example", "bob@b.example")].join("\n"),
      replies("250 OK", "250 OK", "451 4.3.0 Multiple destination domains per transaction"),
    ].join("\n"),
    [
      [
        ...again,
        rcpt("zq@a.example"),
        ...again,
        rcpt("bob@b.example"),
        ...again,
        rcpt("cid@c.example"),
      ].join("\n"),
      replies("250 OK", "250 OK", "550 5.1.1 no", ...times(6, "250 OK")),
    ].join("\n"),
    [[...again, rcpt("zq@b.example")].join("\n"), replies("250 OK", "250 OK", "550 no")].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250", "bob 250", "cid 250"]);
  expect(result.closedBy).toBe("us");
});

const first = [MAIL, rcpt("p0@a.example", "p1@a.example"), replies(...times(3, "250 OK"))].join(
  "\n",
);
const second = rcpt(...people(6).slice(2));

test.each([
  ["a 421", "S: 421 4.7.0 too busy", "421"],
  ["words against harvesters", "S: 550 5.7.1 Too many invalid recipients", "backoff"],
  ["a lost connection", "! closed", "lost"],
  ["the deadline", "! deadline", "deadline"],
])(
  "a flight broken by %s keeps the earlier replies, and the session repeats its other recipients",
  (_, end, closedBy) => {
    const retried = closedBy === "backoff" ? `\n${replies("250 OK", "250 OK")}` : "";
    const result = session(
      { recipients: people(8) },
      first,
      `${second}\nS: 550 5.1.1 no\n${end}${retried}`,
    );

    expect(summarize(result)).toEqual(["p0 250", "p1 250", "p2 550"]);
    expect(result).toMatchObject({ closedBy, remaining: people(8).slice(3) });
  },
);

test("a flight broken by silence keeps no replies, since any of them may be missing", () => {
  const result = session(
    { recipients: people(8) },
    first,
    `${second}\n${replies("250 OK", "550 5.1.1 no")}\n! timeout`,
  );

  expect(summarize(result)).toEqual(["p0 250", "p1 250"]);
  expect(result).toMatchObject({ closedBy: "lost", remaining: people(8).slice(2) });
});

test.each([
  ["in a flight", `${second}\n${replies("250 OK")}\n! not_smtp`],
  ["at the end", `${second}\n${replies(...times(4, "250 OK"))}\nC: QUIT\nS: 550 5.1.1 no`],
])("a flight broken by more replies than commands, seen %s, discards the session", (_, end) => {
  const result = session({ recipients: people(6) }, first, end);

  expect(result).toMatchObject({
    recipients: [],
    catchAllProbes: [],
    remaining: people(6),
    closedBy: "lost",
  });
});

test("a flight broken after the last reply loses nothing", () => {
  const end = `${second}\n${replies(...times(4, "250 OK"))}\nC: QUIT\n! closed`;

  expect(session({ recipients: people(6) }, first, end).recipients).toHaveLength(6);
});

test("a flight broken before any reply answers no recipient, since PIPELINING may be the cause", () => {
  const result = session(
    { recipients: people(3) },
    [MAIL, rcpt("p0@a.example", "p1@a.example"), "! closed"].join("\n"),
  );

  expect(result).toMatchObject({ recipients: [], remaining: people(3), closedBy: "lost" });
});

test("a flight broken by a 421 for its first recipient answers that recipient", () => {
  const result = session(
    { recipients: people(3) },
    [MAIL, rcpt("p0@a.example", "p1@a.example"), replies("250 OK", "421 4.7.0 no")].join("\n"),
  );

  expect(summarize(result)).toEqual(["p0 421"]);
});

test("a flight broken by a lost connection asks again about recipients of undecided domains", () => {
  const result = session(
    { recipients: ["ann@a.example", "bob@b.example", "cid@c.example"], randomRecipients },
    [MAIL, rcpt("ann@a.example", "bob@b.example"), replies(...times(3, "250 OK"))].join("\n"),
    [
      rcpt("zq@a.example", "zq@b.example", "cid@c.example"),
      replies("550 5.1.1 no"),
      "! closed",
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250"]);
  expect(result.remaining).toEqual(["bob@b.example", "cid@c.example"]);
});

test("a flight broken by a 421 asks again about undecided domains, except the session's first recipient", () => {
  const result = session(
    { recipients: ["ann@a.example", "bob@b.example", "cid@c.example"], randomRecipients },
    [
      [MAIL, rcpt("ann@a.example", "bob@b.example")].join("\n"),
      replies("250 OK", "250 OK", "421 4.7.0 too busy"),
    ].join("\n"),
  );

  expect(summarize(result)).toEqual(["ann 250"]);
  expect(result.remaining).toEqual(["bob@b.example", "cid@c.example"]);
});

test("many deferred recipients of as many domains leave enough commands for their random recipients", () => {
  const recipients = Array.from({ length: 9 }, (_, n) => `ann@d${n}.example`);
  const randoms = new Map(recipients.map((_, n) => [`d${n}.example`, `zq@d${n}.example`]));
  const later = "450 4.7.1 Greylisted";
  const flight = (...addresses: readonly string[]) =>
    [rcpt(...addresses), replies(...times(addresses.length, later))].join("\n");

  const result = session(
    { recipients, randomRecipients: randoms },
    [
      [MAIL, rcpt("ann@d0.example", "ann@d1.example")].join("\n"),
      replies("250 OK", later, later),
    ].join("\n"),
    flight("zq@d0.example", "zq@d1.example"),
    flight("ann@d2.example", "ann@d3.example"),
    flight("zq@d2.example", "zq@d3.example"),
    flight("ann@d4.example"),
    flight("zq@d4.example"),
  );

  expect(result.catchAllProbes).toHaveLength(5);
  expect(result).toMatchObject({ closedBy: "limit", remaining: recipients.slice(5) });
});

import type { FallbackRecipients, SessionResult } from "@mailproof/mail/smtp/session";
import { describe, expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import { HELLO, OPENED, plan, play } from "./play.ts";

/** The outcome of each, in a few words: "ann 250", "bob closed". */
const summarize = ({ recipients }: SessionResult) =>
  recipients.map(({ recipient, stage, reply, fault }) =>
    [recipient.split("@")[0], stage === "rcpt" ? null : stage, reply?.code ?? fault]
      .filter(Boolean)
      .join(" "),
  );

const three = ["ann@a.example", "bob@a.example", "cid@b.example"];
const randomRecipients = new Map([
  ["a.example", "zq@a.example"],
  ["b.example", "zq@b.example"],
]);

test("the session asks about every recipient in order, and about a random one after each domain's first acceptance", () => {
  const result = play(
    { recipients: [...three, "dan@b.example"], randomRecipients },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 User unknown
    C: RCPT TO:<bob@a.example>
    S: 250 2.1.5 OK
    C: RCPT TO:<zq@a.example>
    S: 550 5.1.1 User unknown
    C: RCPT TO:<cid@b.example>
    S: 250 OK
    C: RSET
    S: 250 OK
    C: MAIL FROM:<probe@probe.example>
    S: 250 OK
    C: RCPT TO:<zq@b.example>
    S: 250 OK
    C: RCPT TO:<dan@b.example>
    S: 250 OK`,
  );

  expect(summarize(result)).toEqual(["ann 550", "bob 250", "cid 250", "dan 250"]);
  expect(result.catchAllProbes.map(({ domain, reply }) => [domain, reply?.code])).toEqual([
    ["a.example", 550],
    ["b.example", 250],
  ]);
  expect(result).toMatchObject({ closedBy: "us", remaining: [], ending: null, tls: false });
});

test("the session asks about no random recipient at a known domain, in any case of its letters", () => {
  const result = play(
    { recipients: ["ann@A.Example"], randomRecipients },
    `${OPENED}
    C: RCPT TO:<ann@A.Example>
    S: 251 will forward
    C: RCPT TO:<zq@a.example>
    S: 451 4.7.1 later`,
  );

  expect(result.catchAllProbes).toMatchObject([{ domain: "a.example", reply: { code: 451 } }]);
  expect(
    play({}, `${OPENED}\n C: RCPT TO:<ann@a.example>\n S: 250 OK`).catchAllProbes,
    "no random recipient was given",
  ).toEqual([]);
});

test("a session asks about the witness after its recipients, in a separate transaction", () => {
  const chooseWitness = ([ann]: SessionResult["recipients"]) =>
    ann?.reply?.code === 550 ? "eve@a.example" : undefined;
  const result = play(
    { recipients: ["ann@a.example"], chooseWitness },
    `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 550 5.1.1 User unknown
    C: RSET
    S: 250 OK
    C: MAIL FROM:<probe@probe.example>
    S: 250 OK
    C: RCPT TO:<eve@a.example>
    S: 550 5.1.1 User unknown`,
  );

  expect(result).toMatchObject({ witness: { code: 550 }, closedBy: "us" });
  expect(summarize(result)).toEqual(["ann 550"]);
});

test("a session that a throttle ended asks about no witness", () => {
  const result = play(
    { recipients: ["ann@a.example"], chooseWitness: () => "eve@a.example" },
    `${OPENED}\n C: RCPT TO:<ann@a.example>\n S: 421 4.7.0 Later`,
  );

  expect(result.witness).toBeUndefined();
});

describe("a session without a recipient", () => {
  test.each(asRows`
  the banner turns us away | S: 554 5.7.1 no | greeting 554 | refused
  the banner says later | S: 450 busy | greeting 450 | refused
  the banner is a 421 | S: 421 4.3.2 shutting down | greeting 421 | ${"421"}
  the greeting never comes | ! timeout | greeting timeout | lost
  the server is no mail server | ! not_smtp | greeting not_smtp | lost
  another reply replaces the greeting | S: 250 OK | greeting 250 | refused
  EHLO is refused | ${"S: 220 a\nC: EHLO probe.example\nS: 550 5.7.1 no"} | ehlo 550 | refused
  EHLO and HELO are refused | ${"S: 220 a\nC: EHLO probe.example\nS: 502 what\nC: HELO probe.example\nS: 554 no"} | ehlo 554 | refused
  the server hangs up after EHLO | ${"S: 220 a\nC: EHLO probe.example\n! closed"} | ehlo closed | lost
  our sender is refused | ${`${HELLO}\nC: MAIL FROM:<probe@probe.example>\nS: 550 5.1.8 who`} | mail 550 | refused
  the server requires TLS that it did not offer | ${`${HELLO}\nC: MAIL FROM:<probe@probe.example>\nS: 530 5.7.0 Must issue STARTTLS`} | mail 530 | refused
`)(
    "a session gives all recipients one answer, and asks about none, when %s",
    (_, transcript, outcome, closedBy) => {
      const result = play({ recipients: three, randomRecipients }, transcript);

      expect(summarize(result)).toEqual(["ann", "bob", "cid"].map((name) => `${name} ${outcome}`));
      expect(result).toMatchObject({ closedBy, remaining: [], catchAllProbes: [] });
    },
  );

  test.each([
    ["the banner", "S: 421 4.7.0 slow down"],
    ["MAIL", `${HELLO}\nC: MAIL FROM:<probe@probe.example>\nS: 451 4.7.500 Server busy`],
  ])("a session leaves all recipients to another session when %s throttles us", (_, transcript) => {
    const result = play({ recipients: three, randomRecipients }, transcript);

    expect(result).toMatchObject({ recipients: [], remaining: three, catchAllProbes: [] });
  });

  test("a session leaves all recipients to another session when the caller's time is over", () => {
    const result = play({ recipients: three }, `${HELLO}\n! deadline`);

    expect(result).toMatchObject({ recipients: [], remaining: three, closedBy: "deadline" });
  });
});

describe("a broken session", () => {
  const first = "C: RCPT TO:<ann@a.example>";
  const second = `${first}\nS: 250 OK\nC: RCPT TO:<bob@a.example>`;

  test.each([
    ["a 421", "S: 421 4.7.0 slow down", "ann 421", "421"],
    ["too many recipients", "S: 452 4.5.3 Too many recipients", "ann 452", "full"],
    ["a lost connection", "! closed", "ann closed", "lost"],
    ["silence", "! timeout", "ann timeout", "lost"],
  ])(
    "a session broken by %s to the first recipient answers that recipient",
    (_, end, outcome, closedBy) => {
      const result = play({ recipients: three }, `${OPENED}\n${first}\n${end}`);

      expect(summarize(result)).toEqual([outcome]);
      expect(result).toMatchObject({ remaining: ["bob@a.example", "cid@b.example"], closedBy });
    },
  );

  test.each([
    ["a 421", "S: 421 4.7.0 too many errors", "421"],
    ["a lost connection", "! closed", "lost"],
    ["silence", "! timeout", "lost"],
    ["the deadline", "! deadline", "deadline"],
  ])("a session broken by %s later leaves the recipient to another session", (_, end, closedBy) => {
    const result = play({ recipients: three }, `${OPENED}\n${second}\n${end}`);

    expect(summarize(result)).toEqual(["ann 250"]);
    expect(result).toMatchObject({ remaining: ["bob@a.example", "cid@b.example"], closedBy });
    expect(result.ending).toMatchObject({ stage: "rcpt" });
  });

  test("a session broken by a 421 about one domain answers the recipient of that domain", () => {
    const end = "S: 421 4.7.0 IP not in whitelist for RCPT domain, closing connection";
    const result = play({ recipients: three }, `${OPENED}\n${second}\n${end}`);

    expect(summarize(result)).toEqual(["ann 250", "bob 421"]);
    expect(result).toMatchObject({ remaining: ["cid@b.example"], closedBy: "domain" });
  });

  const AT = ["ann@a.example", "bob@a.example", "cid@b.example", "dan@b.example", "eve@c.example"];
  const limits = { ...plan.limits, recipientsPerTransaction: 9, rejectionsPerConnection: 9 };
  const toTranscript = (replies: readonly string[]) =>
    replies.map((text, n) => `C: RCPT TO:<${AT[n]}>\n    S: ${text}`).join("\n    ");
  const OF_US = "550 5.7.1 Your IP address is on our block list (S3150)";

  test("three refusals of us in a row end a session before the next recipient", () => {
    const replies = ["550 5.1.1 User unknown", OF_US, OF_US, OF_US];
    const result = play({ recipients: AT, limits }, `${OPENED}\n${toTranscript(replies)}`);

    expect(summarize(result)).toEqual(["ann 550", "bob 550", "cid 550", "dan 550"]);
    expect(result).toMatchObject({ remaining: ["eve@c.example"], closedBy: "refused" });
  });

  test("refusals of us with another reply between do not end a session", () => {
    const replies = [OF_US, OF_US, "250 OK", OF_US, OF_US];

    expect(play({ recipients: AT, limits }, `${OPENED}\n${toTranscript(replies)}`).closedBy).toBe(
      "us",
    );
  });

  test("a session broken at its random recipient keeps the real answer, and leaves the domain undecided", () => {
    const lost = play(
      { recipients: three, randomRecipients },
      `${OPENED}\n${first}\nS: 250 OK\nC: RCPT TO:<zq@a.example>\n! closed`,
    );

    expect(summarize(lost)).toEqual(["ann 250"]);
    expect(lost.catchAllProbes).toEqual([{ domain: "a.example", reply: null }]);
    expect(lost.remaining).toEqual(["bob@a.example", "cid@b.example"]);
  });

  test("a refused next transaction leaves the other recipients unasked", () => {
    const result = play(
      { recipients: three, limits: { ...plan.limits, recipientsPerTransaction: 1 } },
      `${OPENED}\n${first}\nS: 250 OK\nC: RSET\nS: 250 OK
      C: MAIL FROM:<probe@probe.example>\nS: 450 4.7.1 enough`,
    );

    expect(summarize(result)).toEqual(["ann 250"]);
    expect(result).toMatchObject({ closedBy: "refused", ending: { stage: "mail" } });
  });

  test.each([
    ["a full mailbox", "S: 452 4.2.2 Mailbox full"],
    ["greylisting", "S: 450 4.7.1 Greylisted"],
    ["a bare 452", "S: 452 try later"],
  ])("a session continues after %s", (_, answer) => {
    const result = play(
      { recipients: ["ann@a.example", "bob@a.example"] },
      `${OPENED}\n${first}\n${answer}\nC: RCPT TO:<bob@a.example>\nS: 250 OK`,
    );

    expect(result.closedBy).toBe("us");
  });
});

describe("a full transaction", () => {
  const ask = (recipient: string, reply: string) => `\nC: RCPT TO:<${recipient}>\nS: ${reply}`;
  const again = "\nC: RSET\nS: 250 OK\nC: MAIL FROM:<probe@probe.example>\nS: 250 OK";
  const [ann, bob, cid] = ["ann@a.example", "bob@a.example", "cid@b.example"];
  const TOO_MANY = "452 4.5.3 Too many recipients";

  test.each([
    TOO_MANY,
    "452 Too many recipients received",
    "552 too many recipients",
    "451 4.4.4 Recipients belong to multiple regions ATTR38",
    "452 4.5.3 Domain policy size per transaction exceeded, please try this recipient in a separate transaction",
  ])("a full transaction leads to another one with as few recipients: %s", (reply) => {
    const result = play(
      { recipients: [ann, bob, "eve@a.example"] },
      OPENED +
        ask(ann, "250 OK") +
        ask(bob, reply) +
        again +
        ask(bob, "550 5.1.1 no") +
        again +
        ask("eve@a.example", "250 OK"),
    );

    expect(summarize(result)).toEqual(["ann 250", "bob 550", "eve 250"]);
    expect(result).toMatchObject({ closedBy: "us", remaining: [] });
  });

  test("a full transaction for another domain leads to transactions of one domain", () => {
    const mixed =
      "451-4.3.0 Multiple destination domains per transaction is unsupported. | 451 4.3.0 try again";
    const [dan, eve] = ["dan@b.example", "eve@c.example"];

    const result = play(
      { recipients: [ann, bob, cid, dan, eve] },
      OPENED +
        ask(ann, "250 OK") +
        ask(bob, "250 OK") +
        ask(cid, mixed) +
        again +
        ask(cid, "250 OK") +
        ask(dan, "250 OK") +
        again +
        ask(eve, "250 OK"),
    );

    expect(summarize(result)).toEqual(["ann 250", "bob 250", "cid 250", "dan 250", "eve 250"]);
  });

  test("a transaction full at the random recipient gives it a separate transaction", () => {
    const result = play(
      { recipients: [ann], randomRecipients },
      OPENED +
        ask(ann, "250 OK") +
        ask("zq@a.example", TOO_MANY) +
        again +
        ask("zq@a.example", "550 5.5.0 mailbox unavailable"),
    );

    expect(result.catchAllProbes).toMatchObject([{ domain: "a.example", reply: { code: 550 } }]);
  });

  test("a transaction full at its first recipient means that the connection is full", () => {
    const result = play(
      { recipients: [ann, bob, cid] },
      OPENED + ask(ann, "250 OK") + ask(bob, TOO_MANY) + again + ask(bob, TOO_MANY),
    );

    expect(summarize(result)).toEqual(["ann 250"]);
    expect(result).toMatchObject({ closedBy: "full", remaining: [bob, cid] });
  });

  test("a transaction does not count as full when the server has seen too many unknown recipients", () => {
    const harvest = "452 4.5.3 Too many unknown recipients, goodbye";

    const result = play(
      { recipients: [ann, bob] },
      OPENED + ask(ann, "550 5.1.1 no") + ask(bob, harvest),
    );

    expect(result).toMatchObject({ closedBy: "backoff", remaining: [bob] });
  });
});

describe("limits of a session", () => {
  const ask = (name: string, code: number) => `\nC: RCPT TO:<${name}@a.example>\nS: ${code} so`;
  const again = "\nC: RSET\nS: 250 OK\nC: MAIL FROM:<probe@probe.example>\nS: 250 OK";
  const recipients = ["a1", "a2", "a3"].map((name) => `${name}@a.example`);

  test("the session sends RSET and MAIL after a full transaction, and QUIT after the last one", () => {
    const limits = {
      ...plan.limits,
      recipientsPerTransaction: 1,
      recipientsPerConnection: 2,
    };
    const transcript = OPENED + ask("a1", 250) + again + ask("a2", 250);

    const result = play({ recipients, limits }, transcript);

    expect(summarize(result)).toEqual(["a1 250", "a2 250"]);
    expect(result).toMatchObject({ closedBy: "limit", remaining: ["a3@a.example"], ending: null });
  });

  test("a random recipient counts for its transaction, and not for the connection's recipients", () => {
    const limits = { ...plan.limits, recipientsPerTransaction: 1, recipientsPerConnection: 2 };
    const transcript = OPENED + ask("a1", 250) + again + ask("zq", 550) + again + ask("a2", 250);

    expect(
      play({ recipients: recipients.slice(0, 2), limits, randomRecipients }, transcript).closedBy,
    ).toBe("us");
  });

  test("a session with one domain per transaction begins the next one for another domain", () => {
    const limits = { ...plan.limits, oneDomainPerTransaction: true };
    const askAt = (address: string) => `\nC: RCPT TO:<${address}>\nS: 250 OK`;

    const result = play(
      { recipients: three, limits, randomRecipients },
      `${OPENED}${askAt(three[0] ?? "")}${askAt("zq@a.example")}${askAt(three[1] ?? "")}
      ${again}${askAt(three[2] ?? "")}${askAt("zq@b.example")}`,
    );

    expect(result.catchAllProbes).toHaveLength(2);
    expect(result.closedBy).toBe("us");
  });

  test("a session ends after too many refusals, before the server ends it", () => {
    const limits = { ...plan.limits, rejectionsPerConnection: 2 };

    const result = play({ recipients, limits }, OPENED + ask("a1", 450) + ask("a2", 550));

    expect(result).toMatchObject({ closedBy: "limit", remaining: ["a3@a.example"] });
  });

  test("a limit reached with the last recipient changes nothing", () => {
    const limits = { ...plan.limits, rejectionsPerConnection: 3 };
    const transcript = OPENED + ask("a1", 550) + ask("a2", 550) + ask("a3", 550);

    expect(play({ recipients, limits }, transcript).closedBy).toBe("us");
  });
});

describe("STARTTLS", () => {
  const offered =
    "S: 220 a\nC: EHLO probe.example\nS: 250-a | 250-STARTTLS | 250 SIZE 1000\nC: STARTTLS\n";
  const transaction =
    "\nC: MAIL FROM:<probe@probe.example>\nS: 250 OK\nC: RCPT TO:<ann@a.example>\nS: 250 OK";

  test("the session uses STARTTLS when the server offers it, and asks for the extensions again", () => {
    const result = play(
      {},
      `${offered}S: 220 go\nC: EHLO probe.example\nS: 250-a | 250 8BITMIME${transaction}`,
    );

    expect(result).toMatchObject({ tls: true, extensions: ["8BITMIME"], closedBy: "us" });
  });

  test("a STARTTLS that is not available now leaves the session in the clear", () => {
    const result = play({}, `${offered}S: 454 4.7.0 not now${transaction}`);

    expect(result).toMatchObject({ tls: false, extensions: ["STARTTLS", "SIZE"], closedBy: "us" });
  });

  test("the session ignores STARTTLS when the caller wants none", () => {
    const clear = "S: 220 a\nC: EHLO probe.example\nS: 250-a | 250 STARTTLS";

    expect(play({ tls: false }, clear + transaction).tls).toBe(false);
  });

  test.each([
    ["in the handshake", "! tls_failed"],
    ["in the first words after it", "S: 220 go\nC: EHLO probe.example\n! closed"],
  ])("a STARTTLS that breaks %s differs from a server that hangs up", (_, end) => {
    const result = play({}, offered + end);

    expect(result).toMatchObject({ closedBy: "lost", ending: { stage: "starttls" } });
  });
});

test("a server without EHLO gets HELO, and offers nothing", () => {
  const result = play(
    {},
    `S: 220 old
    C: EHLO probe.example
    S: 500 what?
    C: HELO probe.example
    S: 250 old
    C: MAIL FROM:<probe@probe.example>
    S: 250 OK
    C: RCPT TO:<ann@a.example>
    S: 250 OK`,
  );

  expect(result).toMatchObject({ closedBy: "us", extensions: [] });
});

describe("an address beyond ASCII", () => {
  const recipients = ["ann@a.example", "jürgen@a.example", "bob@a.example"];

  test("an address beyond ASCII opens a transaction with SMTPUTF8 when the server supports it", () => {
    const result = play(
      { recipients },
      `S: 220 a
      C: EHLO probe.example
      S: 250-a | 250 smtputf8
      C: MAIL FROM:<probe@probe.example>
      S: 250 OK
      C: RCPT TO:<ann@a.example>
      S: 250 OK
      C: RSET
      S: 250 OK
      C: MAIL FROM:<probe@probe.example> SMTPUTF8
      S: 250 OK
      C: RCPT TO:<jürgen@a.example>
      S: 550 5.1.1 no
      C: RCPT TO:<bob@a.example>
      S: 250 OK`,
    );

    expect(summarize(result)).toEqual(["ann 250", "jürgen 550", "bob 250"]);
  });

  test("the session does not send an address beyond ASCII to a server without SMTPUTF8, and sends the others", () => {
    const result = play(
      { recipients },
      `${OPENED}\nC: RCPT TO:<ann@a.example>\nS: 250 OK\nC: RCPT TO:<bob@a.example>\nS: 250 OK`,
    );

    expect(summarize(result)).toEqual(["ann 250", "jürgen smtputf8_unsupported", "bob 250"]);
  });
});

describe("guesses at one person's address", () => {
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

  test("the session asks about the next guess after one without a mailbox, and ends at the first mailbox", () => {
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

  test("the random recipient follows the accepted guess, so that a catch-all sees two recipients", () => {
    const result = play(
      { fallbacks: guesses, randomRecipients: new Map([["a.example", "zq@a.example"]]) },
      `${OPENED}
    C: RCPT TO:<ann@a.example>
    S: 250 OK
    C: RCPT TO:<zq@a.example>
    S: 250 OK`,
    );

    expect(summarize(result)).toEqual({
      settled: ["ann 250"],
      unknownRecipients: [],
      remaining: 0,
    });
    expect(result.catchAllProbes).toMatchObject([{ reply: { code: 250 } }]);
  });

  test.each([
    ["a server that puts us off", "450 4.7.1 later", "ann 450"],
    ["a server that refuses us", "550 5.7.1 blocked", "ann 550"],
    ["a server with the full mailbox", "452 4.2.2 full", "ann 452"],
  ])("the session asks %s about no other guess", (_, reply, settled) => {
    const result = play(
      { fallbacks: guesses },
      `${OPENED}\nC: RCPT TO:<ann@a.example>\nS: ${reply}`,
    );

    expect(summarize(result)).toEqual({ settled: [settled], unknownRecipients: [], remaining: 0 });
  });

  test("the session returns the last guess when no guess has a mailbox", () => {
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

  test("a session with enough refusals leaves the other guesses to the next, and lists those without a mailbox", () => {
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

  test("a connection that breaks between two guesses leaves the second guess open", () => {
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

  test("guesses do not change the turn of other recipients in the session", () => {
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
});

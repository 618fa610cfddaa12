import type { FallbackRecipients, SessionResult } from "@mailproof/mail/smtp/session";
import { expect, test } from "vitest";
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

test("a session ends before the next recipient after three refusals of us in a row", () => {
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

/** "ann 250 OK / again / cid@b.example ! closed": who is named, with the reply; "again" opens another transaction. */
const talk = (dialogue: string): string =>
  dialogue
    .split(" / ")
    .map((said) => {
      if (said === "again")
        return "C: RSET\nS: 250 OK\nC: MAIL FROM:<probe@probe.example>\nS: 250 OK";
      const [name = "", ...reply] = said.split(" ");
      const address = name.includes("@") ? name : `${name}@a.example`;
      return `C: RCPT TO:<${address}>\n${reply[0] === "!" ? "" : "S: "}${reply.join(" ")}`;
    })
    .join("\n");

const whenTalked = (plan: Parameters<typeof play>[0], dialogue: string) =>
  play(plan, `${OPENED}\n${talk(dialogue)}`);

const [ann, bob, cid] = ["ann@a.example", "bob@a.example", "cid@b.example"];
const TOO_MANY = "452 4.5.3 Too many recipients";

test.each([
  TOO_MANY,
  "452 Too many recipients received",
  "552 too many recipients",
  "451 4.4.4 Recipients belong to multiple regions ATTR38",
  "452 4.5.3 Domain policy size per transaction exceeded, please try this recipient in a separate transaction",
])("a full transaction leads to another one with as few recipients: %s", (reply) => {
  const result = whenTalked(
    { recipients: [ann, bob, "eve@a.example"] },
    `ann 250 OK / bob ${reply} / again / bob 550 5.1.1 no / again / eve 250 OK`,
  );

  expect(summarize(result)).toEqual(["ann 250", "bob 550", "eve 250"]);
  expect(result).toMatchObject({ closedBy: "us", remaining: [] });
});

test("a full transaction for another domain leads to transactions of one domain", () => {
  const mixed =
    "451-4.3.0 Multiple destination domains per transaction is unsupported. | 451 4.3.0 try again";
  const [dan, eve] = ["dan@b.example", "eve@c.example"];

  const result = whenTalked(
    { recipients: [ann, bob, cid, dan, eve] },
    `ann 250 OK / bob 250 OK / ${cid} ${mixed} / again / ${cid} 250 OK / ${dan} 250 OK / again / ${eve} 250 OK`,
  );

  expect(summarize(result)).toEqual(["ann 250", "bob 250", "cid 250", "dan 250", "eve 250"]);
});

test("a transaction full at the random recipient gives it a separate transaction", () => {
  const result = whenTalked(
    { recipients: [ann], randomRecipients },
    `ann 250 OK / zq ${TOO_MANY} / again / zq 550 5.5.0 mailbox unavailable`,
  );

  expect(result.catchAllProbes).toMatchObject([{ domain: "a.example", reply: { code: 550 } }]);
});

test.each(asRows<[what: string, dialogue: string, closedBy: string, remaining: string[]]>`
  it is full at its first recipient | ${`ann 250 OK / bob ${TOO_MANY} / again / bob ${TOO_MANY}`} | full | ${[bob, cid]}
  the server has seen too many unknown recipients | ann 550 5.1.1 no / bob 452 4.5.3 Too many unknown recipients, goodbye | backoff | ${[bob, cid]}
`)("a transaction leads to no other one when %s", (_, dialogue, closedBy, remaining) => {
  const result = whenTalked({ recipients: [ann, bob, cid] }, dialogue);

  expect(result).toMatchObject({ closedBy, remaining });
});

test.each(asRows<
  [what: string, limits: object, dialogue: string, closedBy: string, remaining: string[]]
>`
  recipients of a transaction and of a connection | ${{ recipientsPerTransaction: 1, recipientsPerConnection: 2 }} | a1 250 so / again / a2 250 so | limit | [a3@a.example]
  refusals of a connection, before the server ends it | ${{ rejectionsPerConnection: 2 }} | a1 450 so / a2 550 so | limit | [a3@a.example]
  refusals that the last recipient reaches, which changes nothing | ${{ rejectionsPerConnection: 3 }} | a1 550 so / a2 550 so / a3 550 so | us | []
`)("a session keeps to the limit of %s", (_, limits, dialogue, closedBy, remaining) => {
  const recipients = ["a1@a.example", "a2@a.example", "a3@a.example"];

  const result = whenTalked({ recipients, limits: { ...plan.limits, ...limits } }, dialogue);

  expect(result).toMatchObject({ closedBy, remaining, ending: null });
});

test("a random recipient counts for its transaction, and not for the connection's recipients", () => {
  const limits = { ...plan.limits, recipientsPerTransaction: 1, recipientsPerConnection: 2 };
  const recipients = ["a1@a.example", "a2@a.example"];
  const dialogue = "a1 250 so / again / zq 550 so / again / a2 250 so";

  expect(whenTalked({ recipients, limits, randomRecipients }, dialogue).closedBy).toBe("us");
});

test("a session with one domain per transaction begins the next one for another domain", () => {
  const limits = { ...plan.limits, oneDomainPerTransaction: true };

  const result = whenTalked(
    { recipients: three, limits, randomRecipients },
    "ann 250 OK / zq 250 OK / bob 250 OK / again / cid@b.example 250 OK / zq@b.example 250 OK",
  );

  expect(result.catchAllProbes).toHaveLength(2);
  expect(result.closedBy).toBe("us");
});

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

const isUnknownMailbox: FallbackRecipients["isUnknownRecipient"] = ({ reply }) =>
  reply?.enhanced?.startsWith("5.1.") ?? false;

// Guesses at one person's address cost a server no more recipients than it takes to find out.
test.each(asRows<
  [
    what: string,
    recipients: string[],
    dialogue: string,
    settled: string[],
    unknown: string[],
    remaining: number,
  ]
>`
  the second guess has the mailbox | [ann] | ann 550 5.1.1 who? / al 250 OK | ${["al 250"]} | [ann] | 0
  a catch-all accepts the first guess and a random recipient | [ann] | ann 250 OK / zq 250 OK | ${["ann 250"]} | [] | 0
  a server puts us off at the first guess | [ann] | ann 450 4.7.1 later | ${["ann 450"]} | [] | 0
  a server refuses us at the first guess | [ann] | ann 550 5.7.1 blocked | ${["ann 550"]} | [] | 0
  the first guess has a full mailbox | [ann] | ann 452 4.2.2 full | ${["ann 452"]} | [] | 0
  no guess has a mailbox, so the last one counts | [ann] | ann 550 5.1.1 who? / al 550 5.1.1 who? / a.lee 550 5.1.1 who? | ${["a.lee 550"]} | [ann al] | 0
  the connection breaks between two guesses | [ann] | ann 550 5.1.1 who? / al ! closed | [] | [ann] | 1
  another recipient keeps its turn | [ann bob] | ann 550 5.1.1 who? / al 250 OK / bob 550 5.1.1 who? | ${["al 250", "bob 550"]} | [ann] | 0
`)(
  "the session asks about guesses in turn: %s",
  (_, names, dialogue, settled, unknown, remaining) => {
    const isCatchAll = dialogue.includes("zq ");
    const result = whenTalked(
      {
        recipients: names.map((name) => `${name}@a.example`),
        fallbacks: {
          byRecipient: [["al@a.example", "a.lee@a.example"]],
          isUnknownRecipient: isUnknownMailbox,
        },
        ...(isCatchAll && { randomRecipients }),
      },
      dialogue,
    );

    expect(summarize(result)).toEqual(settled);
    expect(result.unknownRecipients.map((one) => one.split("@")[0])).toEqual(unknown);
    expect(result.remaining).toHaveLength(remaining);
    expect(result.catchAllProbes).toHaveLength(isCatchAll ? 1 : 0);
  },
);

test("a session with enough refusals leaves the other guesses to the next, and lists those without a mailbox", () => {
  const byRecipient = [["b", "c", "d", "e"].map((name) => `${name}@a.example`)];
  const result = whenTalked(
    {
      recipients: ["ann@a.example", "zoe@a.example"],
      fallbacks: { byRecipient, isUnknownRecipient: isUnknownMailbox },
    },
    ["ann", "b", "c", "d"].map((name) => `${name} 550 5.1.1 who?`).join(" / "),
  );

  expect(result).toMatchObject({ recipients: [], closedBy: "limit" });
  expect(result.unknownRecipients.map((one) => one.split("@")[0])).toEqual(["ann", "b", "c", "d"]);
  expect(result.remaining).toHaveLength(2);
});

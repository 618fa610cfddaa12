import { converse, createRandomRecipient, type Dialogue } from "@mailproof/mail/smtp/converse";
import { createDialogue } from "@mailproof/mail/smtp/dialogue";
import type { ReplyOrFault, SmtpWire, WireFault } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { plan, reply } from "./play.ts";

/** A wire that answers from a script, on a clock that each answer moves by a second. */
const scripted = (answers: string[], tlsFault: WireFault | null = null) => {
  const log: string[] = [];
  let ms = 0;
  const wire: SmtpWire = {
    send: (...lines) => void log.push(...lines),
    receive: async (waitMs): Promise<ReplyOrFault> => {
      const answer = answers.shift() ?? "!timeout";
      ms += answer === "!timeout" ? waitMs : 1000;
      return answer.startsWith("!") ? (answer.slice(1) as WireFault) : reply(answer);
    },
    startTls: async (host) => {
      log.push(`(TLS with ${host})`);
      return tlsFault;
    },
    close: async () => void log.push("(hung up)"),
  };
  const until = (deadlineMs: number) => ({
    now: () => new Date(ms),
    deadline: new Date(deadlineMs),
  });
  return { wire, log, until };
};

const friendly = ["220 mx", "250 mx", "250 OK", "250 OK", "221 bye"];

test("a session sends its lines in order, ends with QUIT and closes the connection", async () => {
  const { wire, log, until } = scripted([...friendly]);

  const { result } = await converse(wire, createDialogue(plan), until(60_000));

  expect(result.recipients).toMatchObject([{ recipient: "ann@a.example", reply: { code: 250 } }]);
  expect(log).toEqual([
    "EHLO probe.example",
    "MAIL FROM:<probe@probe.example>",
    "RCPT TO:<ann@a.example>",
    "QUIT",
    "(hung up)",
  ]);
});

test("the transcript records sender, text and time of each line", async () => {
  const { wire, until } = scripted(["220 mx", "250 mx", "250 OK", "550 5.1.1 no", "!closed"]);

  const { transcript } = await converse(wire, createDialogue(plan), until(60_000));

  expect(transcript).toEqual([
    { ms: 1000, who: "server", text: "220 mx" },
    { ms: 1000, who: "client", text: "EHLO probe.example" },
    { ms: 2000, who: "server", text: "250 mx" },
    { ms: 2000, who: "client", text: "MAIL FROM:<probe@probe.example>" },
    { ms: 3000, who: "server", text: "250 OK" },
    { ms: 3000, who: "client", text: "RCPT TO:<ann@a.example>" },
    { ms: 4000, who: "server", text: "550 5.1.1 no" },
    { ms: 4000, who: "client", text: "QUIT" },
    { ms: 5000, who: "wire", text: "closed (quit)" },
  ]);
});

test.each([
  ["a 421", "421 4.7.0 slow down"],
  ["a lost connection", "!closed"],
])("the session sends no QUIT after %s", async (_, end) => {
  const { wire, log, until } = scripted([...friendly.slice(0, 3), end]);

  await converse(wire, createDialogue(plan), until(60_000));

  expect(log.slice(-2)).toEqual(["RCPT TO:<ann@a.example>", "(hung up)"]);
});

test.each([
  ["the greeting", []],
  ["a recipient", friendly.slice(0, 3)],
])(
  "the session waits for a server that is silent at %s no longer than the deadline",
  async (_, answers) => {
    const { wire, log, until } = scripted([...answers]);
    const time = until(7000);

    const { result } = await converse(wire, createDialogue(plan), time);

    expect(result.recipients).toMatchObject([{ fault: "timeout" }]);
    expect(time.now()).toEqual(time.deadline);
    expect(log.at(-1)).toBe("(hung up)");
  },
);

test("the session gives up a silent server before the caller's time ends", async () => {
  const { wire, until } = scripted([]);
  const time = until(60_000);

  await converse(wire, createDialogue(plan), time);

  expect(time.now().getTime()).toBe(10_000);
});

test("the session sends nothing after the deadline", async () => {
  const { wire, log, until } = scripted([...friendly]);

  const { result } = await converse(wire, createDialogue(plan), until(2000));

  expect(result).toMatchObject({ closedBy: "deadline", remaining: plan.recipients });
  expect(log).toEqual(["EHLO probe.example", "(hung up)"]);
});

const opened = ["220 mx", "250-mx | 250 PIPELINING"];
const recipients = ["ann@a.example", "bob@a.example"];
const FLIGHT = [
  "MAIL FROM:<probe@probe.example>",
  "RCPT TO:<ann@a.example>",
  "RCPT TO:<bob@a.example>",
];

test("several commands at once precede their replies in the transcript, as they left", async () => {
  const { wire, until } = scripted([...opened, "250 OK", "250 OK", "550 no", "221 bye"]);

  const { transcript } = await converse(
    wire,
    createDialogue({ ...plan, recipients }),
    until(60_000),
  );

  expect(transcript.slice(3).map(({ who, text }) => `${who} ${text}`)).toEqual([
    ...FLIGHT.map((line) => `client ${line}`),
    "server 250 OK",
    "server 250 OK",
    "server 550 no",
    "client QUIT",
    "server 221 bye",
  ]);
});

test("the session waits no longer for replies to several commands after a 421", async () => {
  const { wire, log, until } = scripted([...opened, "250 OK", "421 4.7.0 busy", "250 never"]);

  const { result } = await converse(wire, createDialogue({ ...plan, recipients }), until(60_000));

  expect(result).toMatchObject({ closedBy: "421", remaining: ["bob@a.example"] });
  expect(log.at(-1)).toBe("(hung up)");
});

test("several commands at once get no result after the deadline, and the session sends none then", async () => {
  const { wire, log, until } = scripted([...opened, ...Array(20).fill("250 OK")]);

  const { result } = await converse(
    wire,
    createDialogue({ ...plan, recipients: [...recipients, "cid@a.example"] }),
    until(4_000),
  );

  expect(result).toMatchObject({
    closedBy: "deadline",
    remaining: ["bob@a.example", "cid@a.example"],
  });
  expect(log).toEqual(["EHLO probe.example", ...FLIGHT, "(hung up)"]);
});

test("the session waits for a provider that is slow at a recipient", async () => {
  const { wire, until } = scripted(friendly.slice(0, 3));
  const time = until(120_000);

  await converse(wire, createDialogue(plan), time, { waits: { rcpt: 45_000 } });

  // Three replies of a second each, and the wait.
  expect(time.now().getTime()).toBe(48_000);
});

/** A wire whose replies take so long each, on a clock of its own. */
const slowly = (answers: readonly string[], seconds: readonly number[]) => {
  let ms = 0;
  let at = 0;
  const wire: SmtpWire = {
    send: () => {},
    receive: async (waitMs) => {
      const tookMs = (seconds[at] ?? 0) * 1000;
      const answer = answers[at++] ?? "!closed";
      ms += Math.min(waitMs, tookMs);
      if (tookMs > waitMs) return "timeout";
      return answer.startsWith("!") ? "closed" : reply(answer);
    },
    startTls: async () => null,
    close: async () => {},
  };
  const now = () => new Date(ms);
  const time = { now, deadline: new Date(120_000), patientDeadline: new Date(240_000) };
  return { wire, time };
};

const codes = async (seconds: readonly number[], isPatient = false) => {
  const { wire, time } = slowly(friendly, seconds);
  const { result } = await converse(wire, createDialogue(plan), time, { isPatient });
  return result.recipients.map(({ reply: got, fault }) => got?.code ?? fault);
};

test("a slow server counts as silent after ten seconds", async () => {
  expect(await codes([1, 1, 1, 12])).toEqual(["timeout"]);
  expect(await codes([12])).toEqual(["timeout"]);
});

test.each([[[12]], [[0, 20]], [[0, 0, 35]], [[0, 0, 0, 55]], [[35, 35, 35, 35]]])(
  "a slow server that was silent before gets a minute for each reply: %j",
  async (seconds) => {
    expect(await codes(seconds, true)).toEqual([250]);
  },
);

test("a slow server that was silent before counts as silent after a minute", async () => {
  expect(await codes([61], true)).toEqual(["timeout"]);
});

test("a slow server counts as a tarpit after two slow replies, and the session continues", async () => {
  expect(await codes([5, 5, 20, 40])).toEqual([250]);
  expect(await codes([8, 9, 50, 59])).toEqual([250]);
});

test("a slow server does not count as a tarpit after one slow reply, such as a late greeting", async () => {
  expect(await codes([6, 0, 0, 12])).toEqual(["timeout"]);
  expect(await codes([6, 0, 6, 12])).toEqual(["timeout"]);
});

const offered = ["220 mx", "250-mx | 250 STARTTLS", "220 go"];

test("STARTTLS leads to a handshake with the mail host's name", async () => {
  const { wire, log, until } = scripted([...offered, ...friendly.slice(1)]);

  const { result } = await converse(wire, createDialogue(plan), until(60_000));

  expect(result.tls).toBe(true);
  expect(log.slice(1, 4)).toEqual(["STARTTLS", "(TLS with mx.a.example)", "EHLO probe.example"]);
});

test("a broken handshake of STARTTLS counts as a fault of the connection", async () => {
  const { wire, log, until } = scripted(offered, "tls_failed");

  const { result, transcript } = await converse(wire, createDialogue(plan), until(60_000));

  expect(result.ending).toEqual({ stage: "starttls", reply: "tls_failed" });
  expect(transcript.at(-1)).toMatchObject({ who: "wire", text: "tls_failed (tls)" });
  expect(log.at(-1)).toBe("(hung up)");
});

test("a line break in an address throws our own error before it is sent, and closes the connection", async () => {
  const recipients = ["ann@a.example>\r\nDATA"];
  const { wire, log, until } = scripted(["220 mx", "250 mx", "250 OK"]);

  await expect(
    converse(wire, createDialogue({ ...plan, recipients }), until(60_000)),
  ).rejects.toThrow("control character");
  expect(log).toEqual(["EHLO probe.example", "MAIL FROM:<probe@probe.example>", "(hung up)"]);
});

test("a transcript stays bounded, however much the server sends", async () => {
  function* endless(): Dialogue<null> {
    for (let count = 0; count < 1000; count++) yield [{ line: "NOOP", wait: "rcpt" }];
    return null;
  }
  const long = `250 ${"x".repeat(1990)}`;
  const { wire, until } = scripted(Array.from({ length: 1000 }, () => long));

  const { transcript } = await converse(wire, endless(), until(10_000_000));

  expect(transcript.length).toBe(300);
  expect(Math.max(...transcript.map(({ text }) => text.length))).toBe(1001);
});

test.each([0, 0.5, 1 - Number.EPSILON])(
  "a random recipient consists of 20 plain characters, by chance of %d",
  (chance) => {
    expect(createRandomRecipient("a.example", () => chance)).toMatch(
      /^[a-z][a-z0-9]{19}@a\.example$/,
    );
  },
);

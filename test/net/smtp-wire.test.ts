import type { Socket } from "node:net";
import { type SessionRequest, trySession } from "@mailproof/mail/smtp/connect";
import { converse } from "@mailproof/mail/smtp/converse";
import { createDialogue } from "@mailproof/mail/smtp/dialogue";
import type { SessionPlan } from "@mailproof/mail/smtp/session";
import type { SmtpWire } from "@mailproof/mail/smtp/wire";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  answerLines,
  closedPort,
  createMailServer,
  HOST,
  listen,
  startSecure,
} from "../servers/mail-servers.ts";

const LONG_MS = 5000;
const SHORT_MS = 150;

const dialled = async (port: number, host = "mail.test"): Promise<SmtpWire> => {
  const options = { timeoutMs: LONG_MS, affinityKey: "" };
  const wire = await connectDirectly({ ip: HOST, port, host }, options);
  if (typeof wire === "string") throw new Error(wire);
  onTestFinished(() => wire.close());
  return wire;
};

const wireTo = async (serve: (socket: Socket) => void) => dialled(await listen(serve));

const request = (port: number): SessionRequest => ({
  helo: "probe.example",
  from: "probe@probe.example",
  recipients: ["ann@a.example", "bob@a.example"],
  randomRecipients: new Map([["a.example", "zq@a.example"]]),
  port,
});

const whenAsked = async (port: number, host = "mail.test") => {
  const time = { now: () => new Date(), deadline: new Date(Date.now() + LONG_MS) };
  return trySession(connectDirectly, [{ host, priority: 0, ips: [HOST] }], request(port), time);
};

test("a session uses TLS with a certificate of any issuer", async () => {
  const received: string[] = [];

  const { result, transcript } = await whenAsked(await createMailServer(received));

  expect(result).toMatchObject({ tls: true, closedBy: "us", extensions: ["SIZE"] });
  expect(result.recipients.map(({ reply }) => reply?.code)).toEqual([250, 550]);
  expect(result.catchAllProbes).toMatchObject([{ reply: { code: 550, enhanced: "5.1.1" } }]);
  expect(received).toEqual([
    "EHLO probe.example",
    "(TLS for mail.test)",
    "EHLO probe.example",
    "MAIL FROM:<probe@probe.example>",
    "RCPT TO:<ann@a.example>",
    "RCPT TO:<zq@a.example>",
    "RCPT TO:<bob@a.example>",
    "QUIT",
  ]);
  expect(transcript.at(-1)?.text).toBe("221 bye");
});

test.each([
  ["192.0.2.1", "nobody"],
  ["mail.test.", "mail.test"],
])("the session asks TLS for the name of %s: %s", async (host, asked) => {
  const received: string[] = [];

  await whenAsked(await createMailServer(received), host);

  expect(received).toContain(`(TLS for ${asked})`);
});

test("the session runs in the clear when the server offers TLS and breaks it", async () => {
  const port = await listen((socket) => {
    socket.write("220 mx\r\n");
    answerLines(socket, (command) => {
      if (command.startsWith("EHLO")) return "250-mx\r\n250 STARTTLS\r\n";
      if (command !== "STARTTLS") return "250 OK\r\n";
      socket.once("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
      return "220 go\r\n";
    });
  });

  const { result, attempts } = await whenAsked(port);

  expect(result).toMatchObject({ tls: false, closedBy: "us", remaining: [] });
  expect(attempts.map((attempt) => attempt.result.ending)).toEqual([
    { stage: "starttls", reply: "tls_failed" },
    null,
  ]);
});

test("a closed port refuses the connection", async () => {
  const target = { ip: HOST, port: await closedPort(), host: "mail.test" };

  expect(await connectDirectly(target, { timeoutMs: LONG_MS, affinityKey: "" })).toBe(
    "connect_refused",
  );
});

test.each(["", "localhost", "0x7f.1", "127.1"])(
  "the client does not connect to %j, which is no address",
  async (ip) => {
    const target = { ip, port: await createMailServer(), host: "mail.test" };

    expect(await connectDirectly(target, { timeoutMs: LONG_MS, affinityKey: "" })).toBe(
      "no_address",
    );
  },
);

/** Says one thing over and over, as fast as it is read. */
const flood = (socket: Socket, text: string): void => {
  const chunk = text.repeat(1000);
  const fill = () => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on("drain", fill);
  fill();
};

test.each([
  ["one line without end", "x", "reply_too_long"],
  ["a multi-line reply without end", "220-welcome\r\n", "reply_too_long"],
  ["empty lines without end", "\r\n", "reply_too_long"],
  ["another protocol", "SSH-2.0-OpenSSH\r\n", "not_smtp"],
  ["bytes that are no text", "\0\xff\n", "not_smtp"],
])("the client ends the session with a hostile server: %s", async (_, text, fault) => {
  const wire = await wireTo((socket) => flood(socket, text));

  expect(await wire.receive(LONG_MS)).toBe(fault);
  expect(await wire.receive(LONG_MS)).toBe(fault);
});

test("the client ends a session with endless banners before any command", async () => {
  const wire = await wireTo((socket) => flood(socket, "220 welcome\r\n"));

  const received = [];
  do received.push(await wire.receive(LONG_MS));
  while (typeof received.at(-1) !== "string");

  expect(received.at(-1)).toBe("not_smtp");
  expect(received.length).toBeLessThan(20);
});

test("the client ends a session whose reply arrives byte by byte", async () => {
  const wire = await wireTo((socket) => {
    const drip = setInterval(() => socket.write("2"), 20);
    socket.on("close", () => clearInterval(drip));
  });

  expect(await wire.receive(SHORT_MS)).toBe("timeout");
});

test("the client ends a silent session, and gives a late reply to no later command", async () => {
  const wire = await wireTo((socket) => {
    socket.write("220 mx\r\n");
    socket.on("data", () => setTimeout(() => socket.write("250 late\r\n"), 2 * SHORT_MS));
  });
  await wire.receive(LONG_MS);
  wire.send("EHLO probe.example");

  expect(await wire.receive(SHORT_MS)).toBe("timeout");
  wire.send("MAIL FROM:<probe@probe.example>");
  expect(await wire.receive(4 * SHORT_MS)).toBe("timeout");
});

test.each<[string, (socket: Socket) => void]>([
  ["hangs up", (socket) => socket.end("220 mx\r\n")],
  ["hangs up in the middle of a line", (socket) => socket.end("220 mx\r\n250 o")],
  [
    "disappears at once",
    (socket) => void socket.write("220 mx\r\n", () => socket.resetAndDestroy()),
  ],
])("the client ends the session when a server greets and %s", async (_, serve) => {
  const wire = await wireTo((socket) => {
    socket.once("data", () => serve(socket));
  });
  wire.send("are you there?");

  expect(await wire.receive(LONG_MS)).toMatchObject({ code: 220 });
  expect(await wire.receive(LONG_MS)).toBe("closed");
});

test("a server's early bytes do not answer the next command", async () => {
  const wire = await wireTo((socket) => {
    socket.write("220 mx\r\n250 forged\r\n250 forged\r\n");
    answerLines(socket, () => "550 real\r\n");
  });
  await wire.receive(LONG_MS);
  wire.send("RCPT TO:<ann@a.example>");

  expect(await wire.receive(LONG_MS)).toMatchObject({ code: 550, text: "real" });
});

test("the client reads a server's goodbye that arrives before a command", async () => {
  const wire = await wireTo((socket) => socket.end("220 mx\r\n421 4.3.2 shutting down\r\n"));
  await wire.receive(LONG_MS);
  wire.send("EHLO probe.example");

  expect(await wire.receive(LONG_MS)).toMatchObject({ code: 421, enhanced: "4.3.2" });
});

test("the client forgets early bytes in the clear after the handshake", async () => {
  const wire = await wireTo((socket) => {
    socket.once("data", () => {
      socket.write("220 go\r\n250-injected\r\n");
      answerLines(startSecure(socket), () => "250 real\r\n");
    });
  });
  wire.send("STARTTLS");
  await wire.receive(LONG_MS);

  expect(await wire.startTls("mail.test", LONG_MS)).toBeNull();
  wire.send("EHLO probe.example");
  expect(await wire.receive(LONG_MS)).toEqual({ code: 250, enhanced: null, text: "real" });
});

const FLIGHT = [
  "MAIL FROM:<probe@probe.example>",
  "RCPT TO:<a@a.example>",
  "RCPT TO:<b@a.example>",
];
/** Answers a whole flight with these bytes. */
const wireAfterFlight = async (answer: string) => {
  const wire = await wireTo((socket) => {
    socket.write("220 mx\r\n");
    socket.once("data", () => socket.write(answer));
  });
  await wire.receive(LONG_MS);
  wire.send(...FLIGHT);
  return wire;
};
const receiveAll = async (wire: SmtpWire) => {
  const codes = [];
  for (;;) {
    const reply = await wire.receive(SHORT_MS);
    codes.push(typeof reply === "string" ? reply : reply.code);
    if (typeof reply === "string") return codes;
  }
};

test("several lines leave in one packet, and the client reads their replies in order", async () => {
  const packets: string[] = [];
  const wire = await wireTo((socket) => {
    socket.write("220 mx\r\n");
    socket.on("data", (bytes) => {
      packets.push(bytes.toString());
      socket.write("250 one\r\n250 two\r\n550 three\r\n");
    });
  });
  await wire.receive(LONG_MS);
  wire.send(...FLIGHT);

  const texts = [];
  for (const _ of FLIGHT) texts.push(await wire.receive(LONG_MS));

  expect(texts).toMatchObject([{ text: "one" }, { text: "two" }, { text: "three" }]);
  expect(packets).toEqual([FLIGHT.map((line) => `${line}\r\n`).join("")]);
});

test("several lines discard earlier unread replies", async () => {
  const wire = await wireTo((socket) => {
    socket.write("220 mx\r\n250 forged\r\n");
    socket.once("data", () => socket.write("550 one\r\n550 two\r\n550 three\r\n"));
  });
  await wire.receive(LONG_MS);
  wire.send(...FLIGHT);

  expect(await receiveAll(wire)).toEqual([550, 550, 550, "timeout"]);
});

test.each([
  ["more replies than lines", "250 OK\r\n".repeat(4), "not_smtp"],
  ["fewer replies than lines", "250 OK\r\n", "timeout"],
  ["a 421 after the last reply", `${"250 OK\r\n".repeat(3)}421 bye\r\n`, "timeout"],
])("the client reads the replies to several lines, and reports %s", async (_, answer, fault) => {
  const received = await receiveAll(await wireAfterFlight(answer));

  // The first reply may have been handed out before the surplus one arrives; the rest is not.
  expect(received.slice(0, -1)).toEqual(
    fault === "not_smtp"
      ? [250]
      : answer
          .split("\r\n")
          .slice(0, -1)
          .map((line) => Number(line.slice(0, 3))),
  );
  expect(received.at(-1)).toBe(fault);
});

test("the client checks all of several lines before the first one leaves", async () => {
  const received: string[] = [];
  const wire = await dialled(await createMailServer(received));

  expect(() => wire.send("RSET", "RCPT TO:<a@b.example>\r\nDATA")).toThrow("control character");
  expect(received).toEqual([]);
});

test.each<[string, number, (socket: Socket) => void]>([
  ["on garbage", LONG_MS, (socket) => socket.write("\x16\x03\x01garbage".repeat(100))],
  ["on plain text", LONG_MS, (socket) => socket.write("250 OK\r\n")],
  ["on silence", SHORT_MS, () => undefined],
  ["on a hang-up", LONG_MS, (socket) => socket.end()],
  ["on a reset", LONG_MS, (socket) => socket.resetAndDestroy()],
])("the handshake fails %s", async (_, waitMs, answerHello) => {
  const wire = await wireTo((socket) => {
    socket.once("data", () => {
      socket.write("220 go\r\n");
      socket.once("data", () => answerHello(socket));
    });
  });
  wire.send("STARTTLS");
  await wire.receive(LONG_MS);

  expect(await wire.startTls("mail.test", waitMs)).toBe("tls_failed");
  wire.send("EHLO probe.example");
  expect(await wire.receive(LONG_MS)).toBe("tls_failed");
});

test("the handshake fails when the connection is lost already", async () => {
  const wire = await wireTo((socket) => socket.end());
  await wire.receive(LONG_MS);

  expect(await wire.startTls("mail.test", LONG_MS)).toBe("closed");
});

test("a session ends when the server has also closed the connection", async () => {
  const happened: string[] = [];
  const port = await listen((socket) => {
    socket.allowHalfOpen = true;
    socket.write("220 mail.test\r\n");
    answerLines(socket, (command) => {
      if (command !== "QUIT") return "250 OK\r\n";
      // Too long for a client that does not wait.
      setTimeout(() => socket.end(() => happened.push("hung up")), 100);
      return "221 bye\r\n";
    });
  });

  await whenAsked(port);
  happened.push("over");

  expect(happened).toEqual(["hung up", "over"]);
});

test("the client leaves a server that never closes the connection", async () => {
  const wire = await wireTo((socket) => {
    socket.allowHalfOpen = true;
    socket.resume();
  });

  await wire.close();

  expect(await wire.receive(LONG_MS)).toBe("closed");
});

test("closing the connection twice closes the server's side once", async () => {
  const closed = Promise.withResolvers<void>();
  const wire = await wireTo((socket) => socket.on("close", () => closed.resolve()).resume());

  await Promise.all([wire.close(), wire.close()]);

  await closed.promise;
  expect(await wire.receive(LONG_MS)).toBe("closed");
});

test.each(["RCPT TO:<a@b.example>\r\nDATA", "EHLO a\n", "EHLO a\r", "EHLO a\0b"])(
  "the client never sends %j",
  async (line) => {
    const received: string[] = [];
    const wire = await dialled(await createMailServer(received));

    expect(() => wire.send(line)).toThrow("control character");
    expect(received).toEqual([]);
  },
);

// Goal: no server, however it treats several commands at once, makes us take one recipient's reply for another's.
// Method: servers over real sockets that know who exists, and break PIPELINING in one way each.

const DOMAIN = "a.example";
const recipients = Array.from({ length: 30 }, (_, n) => `p${n}@${DOMAIN}`);
const RANDOM = `zq@${DOMAIN}`;

/** Of the recipients two in three exist, in no pattern that a shift by one would keep. */
const isExisting = (recipient: string): boolean => {
  const number = Number(/^p(\d+)@/.exec(recipient)?.[1] ?? Number.NaN);
  return (number * number + number) % 7 > 1;
};

const answerTruly = (line: string): string => {
  if (line.startsWith("EHLO")) return "250-mx\r\n250-ENHANCEDSTATUSCODES\r\n250 PIPELINING\r\n";
  if (line === "QUIT") return "221 2.0.0 bye\r\n";
  const recipient = /^RCPT TO:<(.*)>$/.exec(line)?.[1];
  if (recipient === undefined) return "250 2.0.0 OK\r\n";
  return isExisting(recipient) ? "250 2.1.5 OK\r\n" : "550 5.1.1 no such user\r\n";
};

type Server = (socket: Socket, lines: readonly string[], count: () => number) => void;

/** Hands over the lines of each packet, and counts the commands of the session. */
const serve =
  (server: Server) =>
  (socket: Socket): void => {
    socket.write("220 mx\r\n");
    let unread = "";
    let commands = 0;
    socket.on("data", (bytes) => {
      const lines = (unread + bytes.toString()).split("\r\n");
      unread = lines.pop() ?? "";
      server(socket, lines, () => ++commands);
    });
  };

/** A silent server is soon given up; one that only is slow, on a busy machine, is not. */
const SILENT = { replyMs: 150, timeoutMs: 5_000 };
const SLOW = { replyMs: 60_000, timeoutMs: 60_000 };
const plan: SessionPlan = {
  helo: "probe.example",
  from: "probe@probe.example",
  mxHost: "mx.a.example",
  recipients,
  randomRecipients: new Map([[DOMAIN, RANDOM]]),
  limits: {
    recipientsPerTransaction: 50,
    oneDomainPerTransaction: false,
    recipientsPerConnection: 50,
    rejectionsPerConnection: 20,
    connections: 1,
  },
  tls: false,
};

const holdSession = async (port: number, { replyMs, timeoutMs } = SILENT) => {
  const time = { now: () => new Date(), deadline: new Date(Date.now() + 4 * timeoutMs) };
  const waits = { mail: replyMs, rcpt: replyMs, rset: replyMs, quit: replyMs };
  const wire = await connectDirectly(
    { ip: HOST, port, host: "mx.a.example" },
    { timeoutMs, affinityKey: "" },
  );
  if (typeof wire === "string") throw new Error(wire);
  return (await converse(wire, createDialogue(plan), time, { waits })).result;
};

const writeAll = (socket: Socket, text: string): void => {
  if (socket.writable && text !== "") socket.write(text);
};

/** `at`: the command, counted from EHLO as 1, that is treated so. */
const FAULTS: Readonly<Record<string, (at: number) => Server>> = {
  "sends one reply twice": (at) => (socket, lines, count) =>
    writeAll(
      socket,
      lines.map((line) => answerTruly(line).repeat(count() === at ? 2 : 1)).join(""),
    ),
  "sends one reply twice, in packets of their own": (at) => (socket, lines, count) => {
    for (const line of lines) {
      const times = count() === at ? 2 : 1;
      for (let n = 0; n < times; n++) setImmediate(() => writeAll(socket, answerTruly(line)));
    }
  },
  "leaves one reply out": (at) => (socket, lines, count) =>
    writeAll(socket, lines.map((line) => (count() === at ? "" : answerTruly(line))).join("")),
  "answers the first command of a packet alone": () => (socket, lines) =>
    writeAll(socket, answerTruly(lines[0] ?? "")),
  "hangs up": (at) => (socket, lines, count) => {
    for (const line of lines) {
      if (count() === at) return void socket.end();
      writeAll(socket, answerTruly(line));
    }
  },
  "resets the connection": (at) => (socket, lines, count) => {
    for (const line of lines) {
      if (count() === at) return void socket.resetAndDestroy();
      writeAll(socket, answerTruly(line));
    }
  },
  "says 421 and hangs up": (at) => (socket, lines, count) => {
    for (const line of lines) {
      if (count() === at) return void socket.end("421 4.3.2 shutting down\r\n");
      writeAll(socket, answerTruly(line));
    }
  },
  "says something that is no reply": (at) => (socket, lines, count) =>
    writeAll(
      socket,
      lines.map((line) => (count() === at ? "hello?\r\n" : answerTruly(line))).join(""),
    ),
};

const expectOwnReplies = ({
  recipients: results,
  remaining,
}: Awaited<ReturnType<typeof holdSession>>) => {
  const reached = results.map(({ recipient }) => recipient);
  expect([...reached, ...remaining]).toEqual(recipients);
  const wrong = results.filter(
    ({ recipient, reply }) =>
      reply !== null && reply.code !== 421 && (reply.code === 250) !== isExisting(recipient),
  );
  expect(wrong).toEqual([]);
};

test("the session asks a server that follows the RFC in a few packets", async () => {
  const packets: number[] = [];
  const port = await listen(
    serve((socket, lines) => {
      packets.push(lines.length);
      writeAll(socket, lines.map(answerTruly).join(""));
    }),
  );

  const result = await holdSession(port, SLOW);

  expectOwnReplies(result);
  expect(result).toMatchObject({ closedBy: "us", remaining: [] });
  expect(result.catchAllProbes).toMatchObject([{ reply: { code: 550 } }]);
  expect(packets.length).toBeLessThan(12);
});

test("the session reads the same replies in pieces of any size", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), async (sizes) => {
      const port = await listen(
        serve((socket, lines) => {
          const text = lines.map(answerTruly).join("");
          let from = 0;
          for (let n = 0; from < text.length; n++) {
            const size = sizes[n % sizes.length] ?? 1;
            socket.write(text.slice(from, from + size));
            from += size;
          }
        }),
      );
      const result = await holdSession(port, SLOW);
      expectOwnReplies(result);
      expect(result.remaining).toEqual([]);
    }),
    { numRuns: 10 },
  );
});

describe.each(Object.entries(FAULTS))("a server that %s", (_, breakAt) => {
  test("a faulty server gives no recipient a wrong reply, at any place of the fault", async () => {
    const positions = Array.from({ length: 24 }, (_, n) => n + 2);
    const results = await Promise.all(
      positions.map(async (at) => holdSession(await listen(serve(breakAt(at))))),
    );

    expect(results).toHaveLength(positions.length);
    for (const result of results) expectOwnReplies(result);
  });
});

import type { Socket } from "node:net";
import { converse } from "@mailproof/mail/smtp/converse";
import { createDialogue } from "@mailproof/mail/smtp/dialogue";
import type { SessionPlan } from "@mailproof/mail/smtp/session";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOST, listen } from "../servers/mail-servers.ts";

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
  test("a faulty server gives no recipient a wrong reply, wherever the fault happens", async () => {
    const positions = Array.from({ length: 24 }, (_, n) => n + 2);
    const results = await Promise.all(
      positions.map(async (at) => holdSession(await listen(serve(breakAt(at))))),
    );

    expect(results).toHaveLength(positions.length);
    for (const result of results) expectOwnReplies(result);
  });
});

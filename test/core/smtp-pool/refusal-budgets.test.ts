import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import {
  applyReplies,
  CLOSED,
  getCircuitState,
  type ReplyToUs,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { describe, expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

// A server that ends a session after so many refused recipients, as chasquid does after three, has a budget for each
// session, and no quarrel with us.

const TOO_MANY = "421 4.7.0 Too many errors, bye";

const givenServer = (refusalsMost: number, isBanned = false, tooMany = TOO_MANY) => {
  const { world, table } = givenWorld();
  const endings: number[] = [];
  const connect: SmtpConnect = async () => {
    let next = "220 hi";
    let refused = 0;
    const answer = (local: string): string => {
      if (isBanned) return tooMany;
      if (local.startsWith("known")) return "250 Ok";
      refused += 1;
      if (refused <= refusalsMost) return "550 5.1.1 User unknown";
      endings.push(refused);
      return tooMany;
    };
    return {
      send: (line) => {
        const [, local] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
        next = local === undefined ? "250 ok" : answer(local);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  const startedAtMs = world.now().getTime();
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const catchAllCache = createCatchAllCache(table, world.now);
  const probe = createProbe({ ...world, connect, catchAllCache, smtp });
  const ask = async (locals: readonly string[]) =>
    Promise.all(
      locals.map((local) =>
        probe({
          recipient: `${local}@example.com`,
          domain: "example.com",
          hosts: [{ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] }],
          probeCatchAll: true,
        }),
      ),
    );
  return { ask, endings, countMs: () => world.now().getTime() - startedAtMs };
};

const UNKNOWN = Array.from({ length: 20 }, (_, n) => `gone${n}`);

test.each([
  [2, TOO_MANY],
  [3, TOO_MANY],
  [5, TOO_MANY],
  [3, "421 mx.example.com: Too many failed commands, closing connection"],
  [4, "421 Assez pour cette session, au revoir"],
])(
  "the engine asks about every recipient at a server that ends a session after %i refusals by %j",
  async (most, tooMany) => {
    const { ask, endings, countMs } = givenServer(most, false, tooMany);

    const found = await ask([...UNKNOWN, "known1", "known2"]);

    expect(found.slice(0, 20).map(({ finding }) => finding.verdict)).toEqual(
      Array(20).fill("invalid"),
    );
    expect(found.slice(20).map(({ finding }) => finding.verdict)).toEqual(["valid", "valid"]);
    expect(endings).toHaveLength(1);
    // No wait: a pause after a throttle is half a minute.
    expect(countMs()).toBeLessThan(30_000);
  },
);

test("the engine returns the rows of a new session whose first reply repeats the refusal", async () => {
  const { ask } = givenServer(0, true);

  const [first] = await ask(["gone1", "known1"]);

  expect(first?.finding).toMatchObject({ verdict: "unknown", aboutUs: true });
});

const HOUR_MS = 3_600_000;
const AT_MS = 1_000 * HOUR_MS;
const reply = { code: 554, enhanced: null, text: "Blocked" };
const refusal = { host: "mx.example.com", ip: "192.0.2.1", stage: "greeting", reply } as const;
const createRefusal = (domain: string | null = null, isProven = false): ReplyToUs => ({
  kind: "refused",
  domain,
  refusal,
  isProven,
});
const accepted: ReplyToUs = { kind: "accepted" };

const apply = (replies: readonly ReplyToUs[], openings = 0, atMs = AT_MS, circuit = CLOSED) =>
  applyReplies(circuit, replies, { openings, beganAtMs: atMs - 1_000, atMs });
const getState = (replies: readonly ReplyToUs[], afterMs = 0) =>
  getCircuitState(apply(replies), AT_MS + afterMs);

test.each<[string, readonly ReplyToUs[], string]>([
  ["two refusals", [createRefusal(), createRefusal()], "closed"],
  ["three refusals in a row", [createRefusal(), createRefusal(), createRefusal()], "open"],
  [
    "three refusals with a good reply between",
    [createRefusal(), createRefusal(), accepted, createRefusal()],
    "closed",
  ],
  ["one refusal that a witness proves", [createRefusal(null, true)], "open"],
  [
    "three refusals of one domain",
    [createRefusal("a"), createRefusal("a"), createRefusal("a")],
    "closed",
  ],
  [
    "refusals of three domains",
    [createRefusal("a"), createRefusal("b"), createRefusal("c")],
    "open",
  ],
  [
    "a refusal of a domain and two before RCPT",
    [createRefusal("a"), createRefusal(), createRefusal()],
    "open",
  ],
])("the circuit reaches the expected state after %s", (_, replies, state) => {
  expect(getState(replies)).toBe(state);
});

describe("an open circuit", () => {
  const opened = apply([createRefusal(), createRefusal(), createRefusal()]);

  test("an open circuit turns half open after an hour, and closes a day later", () => {
    const at = (hours: number) => getCircuitState(opened, AT_MS + hours * HOUR_MS);

    expect([0, 0.99, 1, 24, 25, 26].map(at)).toEqual([
      "open",
      "open",
      "half_open",
      "half_open",
      "closed",
      "closed",
    ]);
  });

  test.each([
    ["good", accepted],
    ["bad", createRefusal()],
  ])(
    "an open circuit ignores the %s reply of a session that began before, even after the pause",
    (_, late) => {
      for (const hours of [0.5, 2])
        expect(apply([late], 0, AT_MS + hours * HOUR_MS, opened)).toBe(opened);
    },
  );

  test("a half-open circuit opens for two hours after one refusal, but not after one of a single domain", () => {
    const afterMs = AT_MS + 2 * HOUR_MS;

    expect(apply([createRefusal()], 1, afterMs, opened).openUntilMs).toBe(afterMs + 2 * HOUR_MS);
    expect(getCircuitState(apply([createRefusal("a")], 1, afterMs, opened), afterMs)).toBe(
      "half_open",
    );
    expect(apply([createRefusal("a"), accepted], 1, afterMs, opened)).toBe(CLOSED);
  });

  test("an open circuit closes when the clock jumps back by more than its pause", () => {
    expect(getCircuitState(opened, AT_MS - 2 * HOUR_MS)).not.toBe("open");
  });
});

test("refusals more than an hour apart do not count as consecutive", () => {
  const first = apply([createRefusal(), createRefusal()]);

  const second = apply([createRefusal()], 0, AT_MS + 2 * HOUR_MS, first);

  expect(second).toMatchObject({ refusals: 1, openings: 0 });
});

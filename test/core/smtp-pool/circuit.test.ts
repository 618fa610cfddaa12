import {
  applyReplies,
  CLOSED,
  getCircuitState,
  type ReplyToUs,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit";
import { describe, expect, test } from "vitest";

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

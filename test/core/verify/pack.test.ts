import { createPublicWriter } from "@mailproof/core/verify/fields";
import { pack, unpack } from "@mailproof/core/verify/pack";
import { toPublicMembers } from "@mailproof/core/verify/packed-json";
import { RESULT_FIELDS, STATUSES, type Verification } from "@mailproof/core/verify/result";
import { verify } from "@mailproof/core/verify/verify";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

const textOrNull = fc.option(fc.string());
const getFlags = <N extends string>(...names: readonly N[]) =>
  fc
    .tuple(...names.map(() => fc.boolean()))
    .map(
      (set) => Object.fromEntries(names.map((name, at) => [name, set[at]])) as Record<N, boolean>,
    );

const anyVerification: fc.Arbitrary<Verification> = fc.record(
  {
    email: fc.string(),
    status: fc.constantFrom(...STATUSES),
    score: fc.integer({ min: 0, max: 100 }),
    reason: fc.string(),
    subStatus: textOrNull,
    provider: textOrNull,
    verification: getFlags(
      "syntaxValid",
      "domainExists",
      "mxFound",
      "smtpCheck",
      "mailboxExists",
      "catchAll",
    ),
    flags: getFlags(
      "disposable",
      "roleAccount",
      "freeProvider",
      "spamTrap",
      "honeypot",
      "botGenerated",
      "disposableHint",
      "forwardingMx",
    ),
    enrichment: fc.record({
      first_name: textOrNull,
      last_name: textOrNull,
      full_name: fc.string(),
      gender: fc.constant("unknown" as const),
    }),
    ai: fc.record({
      typoSuggestion: textOrNull,
      typoConfidence: fc.option(fc.constantFrom(0, 0.5, 0.99)),
      catchAllConfidence: fc.constantFrom(0, 0.41, 0.95),
    }),
    receipt: fc.constantFrom("header.claims.signature"),
    receiptClaims: fc.constantFrom("claims"),
    retry: fc.constantFrom("later", "new_connection", "other_host", null),
    verifiedAt: fc.constant("2026-11-21T00:00:00.000Z"),
  },
  {
    requiredKeys: [
      "email",
      "status",
      "score",
      "reason",
      "subStatus",
      "provider",
      "verification",
      "flags",
      "enrichment",
      "retry",
      "verifiedAt",
    ],
  },
);

test("a packed result unpacks to the same value, even from a store that holds JSON", () => {
  fc.assert(
    fc.property(anyVerification, (result) => {
      expect(unpack(pack(result))).toEqual(result);
      expect(unpack(JSON.parse(JSON.stringify(pack(result))))).toEqual(result);
    }),
    { numRuns: 1_000 },
  );
});

test("the JSON of a packed result, with text shared among rows, equals the JSON of its public form", () => {
  const toPublic = createPublicWriter(RESULT_FIELDS);
  const anyNames = fc.record({
    first_name: textOrNull,
    last_name: textOrNull,
    full_name: fc.string({ unit: "binary" }),
    gender: fc.constant("unknown" as const),
  });
  fc.assert(
    fc.property(anyVerification, anyNames, fc.string({ unit: "binary" }), (one, names, email) => {
      // The second of each finds the text of the first.
      for (const result of [one, { ...one, email, enrichment: names }])
        expect(`{${toPublicMembers(pack(result))}}`).toBe(JSON.stringify(toPublic(result)));
    }),
    { numRuns: 1_000 },
  );
});

test.each(["ann.lee@example.com", "invalid@example.com", "info@nxdomain.com", "no address", ""])(
  "a result of the engine unpacks completely with its evidence: %j",
  async (email) => {
    const { world } = givenWorld();
    const everything = { deepVerify: true, includeAi: true, includeEvidence: true };
    const result = await verify(world.engine, email, everything);

    const back = unpack(JSON.parse(JSON.stringify(pack(result))));

    expect(back).toEqual(result);
    expect(Object.keys(back).toSorted()).toEqual(Object.keys(result).toSorted());
  },
);

test("a row without evidence is shorter than half of its public form", async () => {
  const { world } = givenWorld();
  const options = { deepVerify: true, includeAi: true, includeEvidence: false };
  const result = await verify(world.engine, "ann.lee@example.com", options);

  expect(JSON.stringify(pack(result)).length * 2).toBeLessThan(JSON.stringify(result).length);
});

/** As existing tables hold it: a change of the code that could not read it fails here. */
const createStored = (checks: number, flags: number) => [
  1,
  "Ann.Lee@example.com",
  "risky",
  53,
  "mailbox_full",
  "sub",
  "google",
  checks,
  flags,
  ["Ann", "van Lee", "Ann B. van Lee", "unknown"],
  ["ann@gmail.com", 0.93, 0.49],
  "later",
  "2026-11-21T00:00:00.000Z",
];

test("the codec reads a stored result by its positions", () => {
  const { verification, flags, ...others } = unpack(createStored(0, 0));

  expect(Object.values({ ...verification, ...flags })).toEqual(Array(14).fill(false));
  expect(others).toEqual({
    email: "Ann.Lee@example.com",
    status: "risky",
    score: 53,
    reason: "mailbox_full",
    subStatus: "sub",
    provider: "google",
    enrichment: {
      first_name: "Ann",
      last_name: "van Lee",
      full_name: "Ann B. van Lee",
      gender: "unknown",
    },
    ai: { typoSuggestion: "ann@gmail.com", typoConfidence: 0.93, catchAllConfidence: 0.49 },
    retry: "later",
    verifiedAt: "2026-11-21T00:00:00.000Z",
  });
});

test.each([
  [1, "syntaxValid", "disposable"],
  [2, "domainExists", "roleAccount"],
  [4, "mxFound", "freeProvider"],
  [8, "smtpCheck", "spamTrap"],
  [16, "mailboxExists", "honeypot"],
  [32, "catchAll", "botGenerated"],
])("the stored bit %d still sets %s and %s", (bit, check, flag) => {
  const { verification, flags } = unpack(createStored(bit, bit));
  const set = Object.entries({ ...verification, ...flags }).filter(([, isSet]) => isSet);

  expect(set.map(([name]) => name)).toEqual([check, flag]);
});

test.each([[[2, "ann@x.com"]], [[]], [["1"]]])(
  "the codec refuses %j, whose version is unknown",
  (row) => {
    expect(() => unpack(row)).toThrow("a stored result has an unknown version");
  },
);

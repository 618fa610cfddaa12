import {
  listResultColumns,
  toPublicCells,
  toResultCells,
} from "@mailproof/core/exports/result-columns";
import {
  createPublicWriter,
  type Fields,
  listPublicFields,
  listStoredKeys,
} from "@mailproof/core/verify/fields";
import { readJudged, recordJudged } from "@mailproof/core/verify/judged-record";
import { pack, unpack } from "@mailproof/core/verify/pack";
import { toPublicMembers } from "@mailproof/core/verify/packed-json";
import { RESULT_FIELDS, STATUSES, type Verification } from "@mailproof/core/verify/result";
import type { JudgedInput } from "@mailproof/core/verify/signals";
import { verify } from "@mailproof/core/verify/verify";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";

const toPublic = createPublicWriter(RESULT_FIELDS);
const getBits = (of: Fields) => Object.fromEntries(listStoredKeys(of).map((key) => [key, true]));

const RESULT = {
  email: "info@example.com",
  status: "role",
  score: 53,
  reason: "role_account",
  subStatus: "not_probed",
  provider: "google",
  verification: getBits(RESULT_FIELDS.verification.fields),
  flags: getBits(RESULT_FIELDS.flags.fields),
  enrichment: { first_name: "Ann", last_name: "Lee", full_name: "Ann Lee", gender: "unknown" },
  ai: { typoSuggestion: "info@example.org", typoConfidence: 0.9, catchAllConfidence: 0.4 },
  evidence: { mailHost: "mx.example.com", catchAll: "yes" },
  receipt: "header.claims.signature",
  receiptClaims: "claims",
  retry: "later",
  retryCause: "dns",
  comeBack: {
    at: "2026-03-01T00:01:00.000Z",
    ticket: { queue: "google all", position: 1, draw: 1 },
  },
  greylistedExit: "p.example:1080",
  throttleMinutes: [15, 60, 240],
  isWithheld: true,
  unproven: "PROVIDER#google\nWITNESS#direct",
  verifiedAt: "2026-11-21T00:00:00.000Z",
} as unknown as Verification;

/** A result in which every field has a value. */
const hasEveryField = (fields: Fields, values: object): boolean =>
  Object.entries(fields)
    .filter(([, { isComputed }]) => !isComputed)
    .every(([key]) => key in values);

test("the codec stores and reads every field of the table, except the fields of a later attempt", () => {
  expect(hasEveryField(RESULT_FIELDS, RESULT)).toBe(true);
  const { retryCause, comeBack, greylistedExit, throttleMinutes, isWithheld, unproven, ...stored } =
    RESULT;

  expect(retryCause).toBe("dns");
  expect([throttleMinutes, isWithheld]).toEqual([[15, 60, 240], true]);
  expect(unproven).toContain("WITNESS#");
  expect(greylistedExit).toBe("p.example:1080");
  expect(comeBack).toMatchObject({ at: "2026-03-01T00:01:00.000Z" });
  expect(unpack(JSON.parse(JSON.stringify(pack(RESULT))))).toEqual(stored);
});

test("the public form contains every field with a public name, and no other", () => {
  const named = listPublicFields(RESULT_FIELDS).map(({ name }) => name);

  expect(Object.keys(toPublic(RESULT))).toEqual(named);
  expect(named).not.toContain("retry");
});

test("the public form lists the unknown checks, and omits options that the request left out", () => {
  const { ai: _, ...others } = RESULT;
  const unproven = {
    ...others,
    verification: { ...RESULT.verification, domainExists: false, mailboxExists: false },
  };

  expect(toPublic(unproven).verification).toMatchObject({
    domain_exists: false,
    mailbox_exists: false,
    not_known: ["domain_exists", "mx_found", "smtp_check", "mailbox_exists"],
  });
  expect(toPublic(others)).not.toHaveProperty("ai");
});

test("a row of a file is equal whether a stored or a public result builds it", () => {
  const { ai: _, ...plain } = RESULT;

  for (const result of [RESULT, { ...plain, provider: null }])
    expect(toPublicCells(toPublic(result))).toEqual(toResultCells(result));
  expect(toResultCells(RESULT)).toEqual([
    "info@example.com",
    "role",
    "careful",
    "53",
    "role_account",
    "not_probed",
    "google",
    "true",
    "true",
    "true",
    "true",
    "true",
    "info@example.org",
    "2026-11-21T00:00:00.000Z",
  ]);
  expect(listResultColumns([])).toHaveLength(14);
});

const flag = fc.boolean();
const textOrNull = fc.option(fc.constantFrom("a", "role"));

const anyJudged = fc.record({
  signals: fc.record(
    {
      syntaxFault: textOrNull,
      domain: fc.constantFrom("mail_host", "null_mx", "not_asked"),
      isControlled: fc.constant(true as const),
      listed: fc.record({
        trap: flag,
        disposable: flag,
        disposableHint: flag,
        role: textOrNull,
        free: flag,
        squat: textOrNull,
      }),
      mailbox: fc.option(
        fc.record({
          verdict: fc.constantFrom("valid", "invalid", "risky", "unknown"),
          reason: fc.constant("accepted"),
          rule: fc.constant("rule"),
          confidence: fc.constantFrom(0, 0.9, 1),
          retry: fc.option(fc.constantFrom("later", "other_host")),
          aboutUs: flag,
        }),
      ),
      catchAll: fc.constantFrom("yes", "no", "not_tested"),
      acceptsThenBounces: flag,
      rejectsUnknownRecipients: flag,
      acceptsUnknownRecipients: flag,
      bounced: flag,
      nameFault: textOrNull,
      hasUnusualLength: flag,
      longName: fc.option(fc.constantFrom("untried", "taken")),
      botLikeness: fc.constantFrom(0, 0.4, 1),
      encrypted: flag,
    },
    { noNullPrototype: true },
  ),
  catchAllConfidence: fc.option(fc.constantFrom(0, 0.41, 0.95)),
}) as unknown as fc.Arbitrary<JudgedInput>;

test("the judged record spells its names as the API does, at each depth", () => {
  fc.assert(
    fc.property(anyJudged, (judged) => {
      expect(JSON.stringify(recordJudged(judged))).not.toMatch(/"[a-z]*[A-Z]\w*":/);
    }),
  );
});

test("the judged record restores every judged value from JSON, even a neutral one", () => {
  fc.assert(
    fc.property(anyJudged, (judged) => {
      const stored = JSON.parse(JSON.stringify(recordJudged(judged)));

      expect(readJudged(stored)).toEqual(judged);
    }),
    { numRuns: 1_000 },
  );
});

const anyTextOrNull = fc.option(fc.string());
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
    subStatus: anyTextOrNull,
    provider: anyTextOrNull,
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
      first_name: anyTextOrNull,
      last_name: anyTextOrNull,
      full_name: fc.string(),
      gender: fc.constant("unknown" as const),
    }),
    ai: fc.record({
      typoSuggestion: anyTextOrNull,
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
    first_name: anyTextOrNull,
    last_name: anyTextOrNull,
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

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
import { pack, unpack } from "@mailproof/core/verify/pack";
import { RESULT_FIELDS, type Verification } from "@mailproof/core/verify/result";
import { expect, test } from "vitest";

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

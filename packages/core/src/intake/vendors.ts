import { type ByteText, toText } from "./byte-text.ts";
import { createTextSet } from "./text-set.ts";

// Verdicts that a list has from another service. A column is a vendor's if its header names the vendor, or is the vendor's field
// beside another of its fields or words, and if all of its words are the vendor's. `status` beside `send` is our own export.

/** The words of our statuses. */
export type Family =
  | "valid"
  | "invalid"
  | "risky"
  | "unknown"
  | "catch_all"
  | "disposable"
  | "role"
  | "spam_trap";

type Vendor = {
  readonly name: string;
  /** Headers of this vendor alone. */
  readonly columns: readonly string[];
  /** A header that others use, too. */
  readonly field?: string;
  /** With `field`: another header, or a word, that only this vendor has. */
  readonly marks?: readonly string[];
  readonly words: Readonly<Record<string, Family>>;
};

/** Kickbox, Bouncer, Emailable and Verifalia use the same four words. */
const DELIVERABLE = {
  deliverable: "valid",
  undeliverable: "invalid",
  risky: "risky",
  unknown: "unknown",
} as const;

// Headers and words are lower case, with _ for spaces and hyphens.
const VENDORS: readonly Vendor[] = [
  {
    // zerobounce.net/docs, "Status Codes"; the header is in the answer of getFile in the tests of ZeroBounce's PHP SDK.
    name: "ZeroBounce",
    columns: ["zb_status"],
    words: {
      valid: "valid",
      invalid: "invalid",
      catch_all: "catch_all",
      unknown: "unknown",
      spamtrap: "spam_trap",
      abuse: "risky",
      do_not_mail: "risky",
    },
  },
  {
    // API v4, jobs/download: the column `email_status`, and the five kinds of results that it can leave out.
    name: "NeverBounce",
    columns: ["email_status"],
    words: {
      valid: "valid",
      invalid: "invalid",
      disposable: "disposable",
      catchall: "catch_all",
      unknown: "unknown",
    },
  },
  // github.com/kickboxio/kickbox-node, README: `result`, `sendex`.
  { name: "Kickbox", columns: [], field: "result", marks: ["sendex"], words: DELIVERABLE },
  // rapidapi.com/BouncerAdmin/api/bouncer-email-verification: the four results. The API has a toxicity flag beside them.
  {
    name: "Bouncer",
    columns: [],
    field: "status",
    marks: ["toxic", "toxicity"],
    words: DELIVERABLE,
  },
  {
    // developer.millionverifier.com, as its callers quote it: the six results beside `quality`.
    name: "MillionVerifier",
    columns: [],
    field: "result",
    marks: ["quality"],
    words: {
      ok: "valid",
      catch_all: "catch_all",
      unknown: "unknown",
      error: "unknown",
      disposable: "disposable",
      invalid: "invalid",
    },
  },
  // help.emailable.com, "Verification results: all possible states and reasons".
  {
    name: "Emailable",
    columns: [],
    field: "state",
    marks: ["deliverable", "undeliverable"],
    words: DELIVERABLE,
  },
  {
    // Hunter's API, schema VerificationStatus: the six values. Hunter does not ask about webmail.
    name: "Hunter",
    columns: [],
    field: "verification_status",
    marks: ["accept_all", "webmail"],
    words: {
      valid: "valid",
      invalid: "invalid",
      accept_all: "catch_all",
      webmail: "unknown",
      disposable: "disposable",
      unknown: "unknown",
    },
  },
  {
    // debounce.com/solutions/api, field `result`: the four values.
    name: "DeBounce",
    columns: [],
    field: "result",
    marks: ["safe_to_send"],
    words: { safe_to_send: "valid", invalid: "invalid", risky: "risky", unknown: "unknown" },
  },
  // github.com/verifalia/verifalia-ruby-sdk, README: the classifications.
  { name: "Verifalia", columns: ["classification"], words: DELIVERABLE },
  {
    // docs.rs/check-if-email-exists, enum Reachable; npm @reacherhq/api: `is_reachable`.
    name: "Reacher",
    columns: ["is_reachable"],
    words: { safe: "valid", risky: "risky", invalid: "invalid", unknown: "unknown" },
  },
  {
    // docs.clearout.io, "Bulk Validation": four statuses, columns named "Clearout Verification …"; clearout-node: `safe_to_send`.
    name: "Clearout",
    columns: [],
    field: "status",
    marks: ["safe_to_send"],
    words: { valid: "valid", invalid: "invalid", catch_all: "catch_all", unknown: "unknown" },
  },
];

export type VendorColumn = { readonly name: string; readonly at: number };

export const findVendorColumn = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): VendorColumn | null => {
  const names = columns.map(normalize);
  for (const vendor of VENDORS)
    for (const at of names.keys()) {
      const words = new Set(rows.map((cells) => normalize(cells[at] ?? "")));
      words.delete("");
      if (words.size === 0 || !words.isSubsetOf(new Set(Object.keys(vendor.words)))) continue;
      if (isVendors(vendor, names, at, words)) return { name: vendor.name, at };
    }
  return null;
};

const isVendors = (
  { name, columns, field, marks = [] }: Vendor,
  all: readonly string[],
  at: number,
  words: ReadonlySet<string>,
): boolean => {
  const header = all[at] ?? "";
  if (columns.includes(header) || header.startsWith(`${name.toLowerCase()}_`)) return true;
  const isOurs = all[at + 1] === "send";
  return header === field && !isOurs && marks.some((one) => all.includes(one) || words.has(one));
};

const normalize = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");

export type VendorVerdict = {
  readonly vendor: string;
  /** The vendor's word. */
  readonly verdict: string;
  readonly status: Family;
};

/** Undefined: the cell is empty, or not one of the vendor's words. */
export const readVendorVerdict = (
  column: VendorColumn | null | undefined,
  cells: readonly string[],
): VendorVerdict | undefined => {
  const verdict = column ? (cells[column.at] ?? "").trim() : "";
  if (!column || verdict === "") return undefined;
  const words = VENDORS.find(({ name }) => name === column.name)?.words ?? {};
  const key = normalize(verdict);
  const status = Object.hasOwn(words, key) ? words[key] : undefined;
  return status && { vendor: column.name, verdict, status };
};

const SETTLED: ReadonlySet<Family> = new Set(["invalid", "disposable", "spam_trap"]);

/** Counts the addresses whose every row has a verdict that nobody needs to ask about again. */
export const createSettledCounter = (column: VendorColumn | null, countMax: number) => {
  if (!column) return NO_SETTLED;
  const settled = createTextSet(countMax);
  const others = createTextSet(countMax);
  let count = 0;
  return {
    /** True when the verdict of this row settles its address. */
    add: (canonical: string, row: number, cells: readonly ByteText[]): boolean => {
      const verdict = readVendorVerdict({ ...column, at: 0 }, [toText(cells[column.at] ?? "")]);
      const isSettled = verdict !== undefined && SETTLED.has(verdict.status);
      const isRepeat = (isSettled ? settled : others).add(canonical, row) > 0;
      const isInBoth = (isSettled ? others : settled).find(canonical) > 0;
      if (!isRepeat && isSettled && !isInBoth) count += 1;
      if (!isRepeat && !isSettled && isInBoth) count -= 1;
      return isSettled;
    },
    has: (canonical: string): boolean => settled.find(canonical) > 0,
    count: (): number => count,
  };
};

const NO_SETTLED = { add: () => false, has: () => false, count: () => 0 };

export type SettledCounter = ReturnType<typeof createSettledCounter>;

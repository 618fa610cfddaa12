import { createPublicKey, verify as verifySignature } from "node:crypto";
import * as v from "valibot";
import { compareVersions, DAY_MS, EDITION_VERSION, getEditionDate } from "./edition-age.ts";
import { type DomainList, isOn, type ListVersion, readDomains } from "./pack.ts";

// An edition is all lists of one day in one file, which an operator may install without a release:
//
//   {"format":1,"version":"2026.11.29","lists":[{"list":"disposable","source":…,"version":…,"entries":13130,"sha256":…},…]}
//   0-mail.com                  the domains of the first list in the order of their bytes, each on a line; then the next list's
//   …
//   mZ3bA…                      the signature of everything above, Ed25519 in base64

export const LIST_NAMES = ["disposable", "broad", "free", "rareEndings"] as const;
export type ListName = (typeof LIST_NAMES)[number];

export type Edition = {
  readonly version: string;
  readonly lists: Readonly<Record<ListName, DomainList>>;
};

/** States why a file is not an edition, or must not replace the current one. */
export class EditionFault extends Error {}

/** Six times the size of the present lists. */
export const EDITION_BYTES_MAX = 4_000_000;
const EDITION_ENTRIES_MAX = 250_000;

const Header = v.strictObject({
  format: v.literal(1),
  version: v.pipe(v.string(), v.regex(EDITION_VERSION)),
  lists: v.pipe(
    v.array(
      v.strictObject({
        list: v.picklist(LIST_NAMES),
        source: v.string(),
        version: v.string(),
        entries: v.pipe(v.number(), v.integer(), v.minValue(0)),
        sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
      }),
    ),
    v.length(LIST_NAMES.length),
  ),
});

/** Formats the signed part of an edition. The caller sorts the `domains` of each list. */
export const formatEdition = (
  version: string,
  lists: readonly (ListVersion & { readonly domains: readonly string[] })[],
): string => {
  const described = lists.map(({ list, source, version: of, entries, sha256 }) => ({
    list,
    source,
    version: of,
    entries,
    sha256,
  }));
  const header = JSON.stringify({ format: 1, version, lists: described });
  return [header, ...lists.flatMap(({ domains }) => domains), ""].join("\n");
};

/** Lets waiting work run: a server reads an edition while it serves requests. */
type Pause = () => Promise<void>;

/** Reads a file that was signed with the key. Limits bound every step, and the reader calls `pause` every few milliseconds. */
export const readEdition = async (
  bytes: Uint8Array,
  publicKey: string,
  pause: Pause,
): Promise<Edition> => {
  assertEditionBytes(bytes.length);
  const text = Buffer.from(bytes).toString("latin1");
  // The signature is the last line of the file.
  const signedTo = text.lastIndexOf("\n", text.length - 2) + 1;
  const signature = Buffer.from(text.slice(signedTo), "base64");
  if (!(await isSigned(bytes.subarray(0, signedTo), signature, publicKey)))
    throw new EditionFault(
      "has no valid signature: it is cut off, was changed, or another signed it",
    );
  await pause();
  const headerEnd = text.indexOf("\n");
  const { version, lists } = readHeader(text.slice(0, headerEnd));
  const read = createDomainReader(text.slice(0, signedTo), headerEnd + 1, pause);
  const domainLists: [ListName, DomainList][] = [];
  for (const described of lists)
    domainLists.push([described.list, { ...described, lines: await read.list(described) }]);
  read.end();
  return { version, lists: Object.fromEntries(domainLists) as Edition["lists"] };
};

export const assertEditionBytes = (bytes: number): void => {
  if (bytes > EDITION_BYTES_MAX)
    throw new EditionFault(`is over ${EDITION_BYTES_MAX} bytes, the most that lists may have`);
};

/** Verifies in Node's thread pool, because verification reads every byte twice. */
const isSigned = (body: Uint8Array, signature: Uint8Array, publicKey: string): Promise<boolean> => {
  const key = createPublicKey({
    key: Buffer.from(publicKey, "base64"),
    format: "der",
    type: "spki",
  });
  return new Promise((resolve) => {
    verifySignature(null, body, key, signature, (error, isValid) => resolve(!error && isValid));
  });
};

const readHeader = (line: string): v.InferOutput<typeof Header> => {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Header), line);
  if (!parsed.success) throw new EditionFault("has no header that this release reads");
  const { output } = parsed;
  const names = new Set(output.lists.map(({ list }) => list));
  const entries = output.lists.reduce((sum, one) => sum + one.entries, 0);
  if (names.size < LIST_NAMES.length) throw new EditionFault("has a list twice");
  if (entries > EDITION_ENTRIES_MAX)
    throw new EditionFault(`has ${entries} names; there may be ${EDITION_ENTRIES_MAX}`);
  return output;
};

const LINES_AT_ONCE = 4_000;
const DOMAIN = /^(?:[a-z0-9_-]{1,63}\.)+(?:[a-z0-9-]{2,63})?$/;

const createDomainReader = (text: string, from: number, pause: Pause) => {
  let at = from;
  return {
    list: async ({ list, entries }: Pick<ListVersion, "list" | "entries">): Promise<string> => {
      const start = at;
      let before = "";
      for (let read = 0; read < entries; read++) {
        if (read % LINES_AT_ONCE === 0) await pause();
        const end = text.indexOf("\n", at);
        const domain = text.slice(at, Math.max(at, end));
        if (domain <= before || !DOMAIN.test(domain))
          throw new EditionFault(`has no sorted domain where ${list} has its ${read + 1}th`);
        before = domain;
        at = end + 1;
      }
      return text.slice(start, at);
    },
    end: (): void => {
      if (at !== text.length) throw new EditionFault("has more domains than its header says");
    },
  };
};

/** A source that loses a larger share of its domains in one edition has moved, or has a new owner. */
const LOST_SHARE_MAX = 1 / 3;

/** Throws for an edition that must not replace the present one, even with a valid signature. */
export const assertReplaces = async (
  next: Edition,
  present: Edition,
  { now, pause }: { readonly now: Date; readonly pause: Pause },
): Promise<void> => {
  if (compareVersions(next.version, present.version) <= 0)
    throw new EditionFault(`is ${next.version}, and ${present.version} is in use`);
  if (getEditionDate(next.version).getTime() > now.getTime() + DAY_MS)
    throw new EditionFault(
      `is ${next.version}, a day that is yet to come: later ones would be older`,
    );
  for (const name of LIST_NAMES) {
    const lost = await countLost(present.lists[name], next.lists[name], pause);
    const { entries } = present.lists[name];
    if (lost > entries * LOST_SHARE_MAX)
      throw new EditionFault(`has lost ${lost} of the ${entries} names of ${name}`);
  }
};

const countLost = async (before: DomainList, after: DomainList, pause: Pause): Promise<number> => {
  let lost = 0;
  for (const [at, domain] of readDomains(before).entries()) {
    if (at % LINES_AT_ONCE === 0) await pause();
    if (!isOn(after, domain)) lost++;
  }
  return lost;
};

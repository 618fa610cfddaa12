import { getEditionAge } from "@mailproof/mail/lists/edition-age";
import {
  assertReplaces,
  EditionFault,
  formatEdition,
  readEdition,
} from "@mailproof/mail/lists/edition-file";
import { createLists, createReplaceableLists } from "@mailproof/mail/lists/lists";
import { LISTS_PUBLIC_KEY } from "@mailproof/mail/lists/public-key";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import { expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";
import {
  createEdition,
  getEntries,
  KEYS,
  NEW_DOMAIN,
  OTHER_KEYS,
  SHIPPED,
  WITH_NEW_DOMAIN,
} from "../../things/editions.ts";

const NOW = new Date("2026-12-02T00:00:00Z");

const read = async (file: Uint8Array, key = KEYS.publicKey) => {
  let pauses = 0;
  const pause = async () => void pauses++;
  const edition = await readEdition(file, key, pause);
  return { edition, pauses };
};

const accept = async (file: Uint8Array) => {
  const { edition } = await read(file);
  await assertReplaces(edition, WHOLE_EDITION, { now: NOW, pause: async () => undefined });
  return edition;
};

test("a loaded edition contains the signed lists, and decides verdicts", async () => {
  const edition = await accept(createEdition(WITH_NEW_DOMAIN));
  const [before, after] = [createLists([], WHOLE_EDITION), createLists([], edition)];

  expect(edition.version).toBe("2026.12.1");
  expect(getEntries(edition)).toEqual([
    SHIPPED.disposable.length + 1,
    SHIPPED.broad.length,
    SHIPPED.free.length,
    SHIPPED.rareEndings.length,
  ]);
  expect([before, after].map((lists) => lists.disposable(NEW_DOMAIN))).toEqual([false, true]);
  for (const domain of ["mailinator.com", "a.yopmail.com", "gmail.com", "gmx.de", "example.com"])
    expect([after.disposable(domain), after.free(domain)]).toEqual([
      before.disposable(domain),
      before.free(domain),
    ]);
  expect(after.rareEnding("con-artists.cm")).toBe(before.rareEnding("con-artists.cm"));
  expect(after.edition).toBe("2026.12.1");
});

test("the reader of an edition yields to other work once for every 4,000 domains", async () => {
  const { edition, pauses } = await read(createEdition());

  expect(pauses).toBeGreaterThanOrEqual(getEntries(edition).reduce((sum, n) => sum + n) / 4_000);
});

const MILLION = Array.from({ length: 1_000_000 }, (_, at) => `${at}.example`);
const SHORT_NAMES = Array.from({ length: 260_000 }, (_, at) => `${at.toString(36)}.ab`);

test.each<[string, () => Buffer | Promise<Buffer>, string]>(asRows`
  no bytes | ${() => Buffer.alloc(0)} | no valid signature
  no signature | ${() => Buffer.from(formatEdition("2026.12.1", []))} | no valid signature
  half of its bytes | ${() => createEdition().subarray(0, 300_000)} | no valid signature
  all but its last line | ${() => cutLine(createEdition())} | no valid signature
  all but its last byte of signature | ${() => createEdition().subarray(0, -4)} | no valid signature
  one letter changed | ${() => changeByte(createEdition(), 100_000)} | no valid signature
  the signature of another | ${() => createEdition({ privateKey: OTHER_KEYS.privateKey })} | no valid signature
  a million names | ${() => createEdition({ domains: { broad: MILLION } })} | over 4000000 bytes
  260,000 short names | ${() => createEdition({ domains: { broad: SHORT_NAMES } })} | names; there may be 250000
  another format | ${() => edited('"format":1', '"format":2')} | no header that this release reads
  a header that is no JSON | ${() => edited('{"format"', "format")} | no header that this release
  a list twice | ${() => edited('"list":"free"', '"list":"broad"')} | a list twice
  fewer domains than it says | ${() => edited(/"entries":\d+/, '"entries":200000')} | no sorted domain
  more domains than it says | ${() => edited(/"entries":346/, '"entries":345')} | more domains than
  a line that is no domain | ${() => edited("\nyopmail.com\n", "\nyopmail com\n")} | no sorted domain
  a domain twice | ${() => edited("\nyopmail.com\n", "\nyopmail.com\nyopmail.com\n")} | no sorted
  the version of the lists in use | ${() => createEdition({ version: WHOLE_EDITION.version })} | in use
  an older version | ${() => createEdition({ version: "2026.9.30" })} | is 2026.9.30, and 2026.
  a day that is yet to come | ${() => createEdition({ version: "2027.1.1" })} | yet to come
  a list without a third of its names | ${() => createEdition({ domains: { free: SHIPPED.free.filter((_, at) => at % 3 !== 0).slice(1) } })} | names of free
  a list of other names | ${() => createEdition({ domains: { disposable: SHIPPED.disposable.map((one) => `x${one}`) } })} | names of disposable
  an empty list | ${() => createEdition({ domains: { rareEndings: [] } })} | names of rareEndings
`)("the reader refuses a file with %s", async (_what, make, reason) => {
  const file = await make();

  await expect(accept(file)).rejects.toThrow(EditionFault);
  await expect(accept(file)).rejects.toThrow(reason);
});

const edited = (from: string | RegExp, to: string): Buffer =>
  createEdition({ edit: (body) => body.replace(from, to) });
const cutLine = (file: Buffer): Buffer => file.subarray(0, file.lastIndexOf("\n", -2) + 1);
const changeByte = (file: Buffer, at: number): Buffer => {
  file[at] = file[at] === 0x61 ? 0x62 : 0x61;
  return file;
};

test("a second edition of one day is newer, and days compare as numbers", async () => {
  for (const version of [`${WHOLE_EDITION.version}.1`, "2026.12.2"])
    expect((await accept(createEdition({ version }))).version).toBe(version);
  expect(getEditionAge("2026.11.23.1", NOW)).toBe(9);
  expect(getEditionAge("2026.12.5", NOW)).toBe(0);
});

test("this release contains a public key that differs from the key of the tests", async () => {
  await expect(read(createEdition(), LISTS_PUBLIC_KEY)).rejects.toThrow("no valid signature");
});

test("replaced lists answer as the new ones, and a verification keeps the lists of its start", async () => {
  const { edition } = await read(createEdition(WITH_NEW_DOMAIN));
  const { lists, replace } = createReplaceableLists(createLists([], WHOLE_EDITION));
  const begunWith = lists.current();

  replace(createLists([], edition));

  expect([lists.disposable(NEW_DOMAIN), lists.edition]).toEqual([true, "2026.12.1"]);
  expect([begunWith.disposable(NEW_DOMAIN), begunWith.edition]).toEqual([
    false,
    WHOLE_EDITION.version,
  ]);
  expect(lists.versions).not.toEqual(begunWith.versions);
});

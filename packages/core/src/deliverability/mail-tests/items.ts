import type { MessageReport } from "@mailproof/mail/message/assess";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import * as v from "valibot";
import { compressJson, decompressJson } from "../../lib/compress.ts";
import { paginateQuery } from "../../lib/paginate-query.ts";
import { toEpochSeconds } from "../../lib/time.ts";
import { CountedIn } from "../../money/items.ts";
import { KEY_MODES } from "../../money/payer.ts";
import type { Item, Json, Key, PagePosition, Table, Write } from "../../ports/table.ts";
import { findItem, removeItem, toPosition } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";

// Layout. A mail test is an address for one mail. It is due when the address expires, and after a mail came until the mail is
// assessed. The envelope and the body of the mail expire after a day.
//
//   pk              sk        list_pk             list_sk            content
//   MAILTEST#<id>   MAILTEST  MAILTESTS#<owner>   <created at>#<id>  the address, its status, the domain of the sender
//   MAILTEST#<id>   MAIL      MAILSENDER#<hash>   <id>               the envelope of the mail, and the key of its body
//   MAILTEST#<id>   REPORT    MAILSENDER#<hash>   <id>               the report, compressed
//
// <hash> is the keyed hash of the sender's address in the item: an erasure finds all data about a sender by it.

export const MAIL_TEST = "mail-test";

/**
 * waiting: no mail yet. assessing: the mail is stored. received: the report exists. expired: no mail came. failed: the mail
 * could not be assessed, by our fault.
 */
export const MAIL_TEST_STATUSES = [
  "waiting",
  "assessing",
  "received",
  "expired",
  "failed",
] as const;

const MailTest = v.object({
  id: v.string(),
  owner: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
  /** The shard of the balance that paid, and that receives a refund. */
  shard: v.number(),
  countedIn: CountedIn,
  status: v.picklist(MAIL_TEST_STATUSES),
  address: v.string(),
  createdAt: v.string(),
  openUntil: v.string(),
  /** The worker counts the messages that asked for the assessment. */
  sends: v.number(),
  receivedAt: v.optional(v.string()),
  /** The domain of the mail's author, in A-labels. Null when the mail has no author. Absent until the mail is assessed. */
  fromDomain: v.optional(v.nullable(v.string())),
  expires_at: v.number(),
});

export type MailTest = Readonly<v.InferOutput<typeof MailTest>>;

export const toMailTestKey = (id: string): Key => ({ pk: `MAILTEST#${id}`, sk: "MAILTEST" });
const toMailKey = (id: string): Key => ({ pk: `MAILTEST#${id}`, sk: "MAIL" });
const toReportKey = (id: string): Key => ({ pk: `MAILTEST#${id}`, sk: "REPORT" });
const toListKey = (owner: string): string => `MAILTESTS#${owner}`;
const toSenderPartition = (hash: string): string => `MAILSENDER#${hash}`;

export const toMailTestItem = (test: MailTest): Item => ({
  ...toMailTestKey(test.id),
  list_pk: toListKey(test.owner),
  list_sk: `${test.createdAt}#${test.id}`,
  ...test,
});
export const readMailTest = (item: Item): MailTest => v.parse(MailTest, item);

export const findMailTest = (table: Table, id: string): Promise<MailTest | undefined> =>
  findItem(table, toMailTestKey(id), readMailTest);

/** A received message without its bytes, which are a blob. */
const StoredMail = v.object({
  test: v.string(),
  blob: v.string(),
  mailFrom: v.string(),
  helo: v.string(),
  ip: v.string(),
  tls: v.optional(
    v.union([v.literal("unknown"), v.object({ version: v.string(), cipher: v.string() })]),
  ),
  receivedAt: v.string(),
});

export type StoredMail = Readonly<v.InferOutput<typeof StoredMail>>;

/** As long as the body is stored (`BLOB_RETENTION_DAYS`). */
const MAIL_RETENTION_SECONDS = 86_400;

export const toMailItem = (mail: StoredMail, sender: string): Item => ({
  ...toMailKey(mail.test),
  list_pk: toSenderPartition(sender),
  list_sk: mail.test,
  expires_at: toEpochSeconds(new Date(mail.receivedAt)) + MAIL_RETENTION_SECONDS,
  ...mail,
});

export const findMail = (table: Table, test: string): Promise<StoredMail | undefined> =>
  findItem(table, toMailKey(test), (item) => v.parse(StoredMail, item));

export const toStoredMail = (
  test: string,
  blob: string,
  { mailFrom, helo, ip, tls, receivedAt }: ReceivedMessage,
): StoredMail => ({
  test,
  blob,
  mailFrom,
  helo,
  ip,
  ...(tls && { tls }),
  receivedAt: receivedAt.toISOString(),
});

/** `author`: the hash of the address in the From field. Null when the field contains none. */
export const toReportItem = (
  { id, expires_at }: Pick<MailTest, "id" | "expires_at">,
  report: MessageReport,
  author: string | null,
): Item => ({
  ...toReportKey(id),
  ...(author !== null && { list_pk: toSenderPartition(author), list_sk: id }),
  expires_at,
  test: id,
  report: compressJson(report as unknown as Json),
});

export const findMessageReport = (table: Table, id: string): Promise<MessageReport | undefined> =>
  findItem(
    table,
    toReportKey(id),
    (item) => decompressJson(v.parse(v.string(), item["report"])) as MessageReport,
  );

export type MailTestPage = { readonly tests: readonly MailTest[]; readonly next?: PagePosition };

/** A page reads at most 2,000 tests: the search for a domain with few tests must not take minutes. */
const SCANNED_MAX = 2_000;

/** Newest first. `after`: the end of the last page. A page may be short when it read many tests and few belong to the domain. */
export const listMailTests = async (
  table: Table,
  owner: string,
  {
    limit,
    domain,
    after,
  }: {
    readonly limit: number;
    readonly domain?: string | undefined;
    readonly after?: PagePosition | undefined;
  },
): Promise<MailTestPage> => {
  const tests: MailTest[] = [];
  let scanned = 0;
  let last: Item | undefined;
  const query = { index: "list", pk: toListKey(owner), newestFirst: true } as const;
  const start = after === undefined ? {} : { after };
  for await (const item of paginateQuery(table, { ...query, ...start })) {
    if (last && (tests.length === limit || scanned === SCANNED_MAX))
      return { tests, next: toPosition(last, "list") };
    last = item;
    scanned++;
    const test = readMailTest(item);
    if (domain === undefined || test.fromDomain === domain) tests.push(test);
  }
  return { tests };
};

/** Erases the mail and the report of every test whose sender's address has this hash. Returns the number of these tests. */
export const eraseMailTests = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  sender: string,
): Promise<number> => {
  const tests = new Set<string>();
  const query = { index: "list", pk: toSenderPartition(sender) } as const;
  for await (const { list_sk: test } of paginateQuery(table, query)) {
    const id = v.parse(v.string(), test);
    tests.add(id);
    const mail = await findMail(table, id);
    // Removes the body first, because a crash in between must leave the item that leads to it.
    if (mail) await blobs.remove(mail.blob);
    for (const key of [toMailKey(id), toReportKey(id)]) await removeItem(table, key);
  }
  return tests.size;
};

/** The table refuses this check unless the mail still exists: an erasure of its sender may remove the mail during the assessment. */
export const createMailCheck = ({ test, blob }: StoredMail): Write => ({
  check: toMailKey(test),
  where: { blob },
});

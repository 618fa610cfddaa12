import { readAddress } from "@mailproof/mail/address-cell";
import type { DnsLookups } from "@mailproof/mail/dns/lookups";
import { recordQueries } from "@mailproof/mail/dns/mail-hosts";
import { assessMessage, type MessageReport } from "@mailproof/mail/message/assess";
import type { ReadMessage } from "@mailproof/mail/message/read-message";
import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import * as v from "valibot";
import { hashAddress } from "../../accounts/hashes.ts";
import { isUnexpired } from "../../lib/time.ts";
import { move } from "../../money/ledger.ts";
import { PRICES } from "../../money/prices.ts";
import type { Item, Write } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { commit } from "../../runtime/commit.ts";
import { UNSCHEDULED } from "../../runtime/leases.ts";
import type { WorkKind } from "../../runtime/work-kind.ts";
import type { Worker } from "../../runtime/worker.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import { ReportFault } from "../reports/report-fault.ts";
import { findAdvisedMailbox } from "../reports/reports-address.ts";
import { createSandboxLookups } from "../sandbox.ts";
import { storeTestMail } from "./accept-test-mail.ts";
import { OPEN_MS } from "./create-mail-test.ts";
import {
  createMailCheck,
  findMail,
  findMailTest,
  MAIL_TEST,
  type MailTest,
  readMailTest,
  type StoredMail,
  toMailTestKey,
  toReportItem,
} from "./items.ts";
import { MAIL_TESTS_QUEUE, sendMailTest } from "./queue.ts";

// The mail of a test key arrives automatically from a correctly set-up domain. The service assesses it like every other mail.

const DOMAIN = "example.com";
/** An address for documentation (RFC 5737). */
const IP = "192.0.2.1";

const createSandboxMail = ({ address }: MailTest, now: Date): ReceivedMessage => ({
  raw: Buffer.from(
    [
      `Date: ${toMailDate(now)}`,
      `From: Ann's Shop <news@${DOMAIN}>`,
      `To: <${address}>`,
      "Subject: Your order is on its way",
      `Message-ID: <${now.getTime()}@${DOMAIN}>`,
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "",
      "Your order left our shop today.",
      "",
    ].join("\r\n"),
  ),
  mailFrom: `news@${DOMAIN}`,
  helo: `out.${DOMAIN}`,
  ip: IP,
  tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384" },
  receivedAt: now,
});

/** Such as "Sat, 21 Nov 2026 00:00:00 +0000" (RFC 5322 §3.3). */
const toMailDate = (at: Date): string => at.toUTCString().replace("GMT", "+0000");

const createSandboxMailLookups = (): DnsLookups =>
  createSandboxLookups({ domain: DOMAIN, sendingIp: IP });

/** A test ends without a report when no mail came in time, or when we could not assess it. */
const ENDS = {
  expired: { from: "waiting", reason: "no_mail" },
  failed: { from: "assessing", reason: "failed" },
} as const;

/**
 * Ends a test without a report and refunds it, in one transaction. The table refuses this when a mail came or another process
 * ended the test. The entry's key is the same for every end, so a test is refunded at most once.
 */
const endMailTest = async (
  world: World,
  test: MailTest,
  status: keyof typeof ENDS,
): Promise<void> => {
  const { id, account, createdAt: openedAt, mode, shard, countedIn } = test;
  const { from, reason } = ENDS[status];
  const end: Write = {
    update: toMailTestKey(id),
    set: { ...UNSCHEDULED, status },
    where: { status: from },
  };
  const entry = {
    account,
    operation: id,
    openedAt,
    countedIn,
    step: "end" as const,
    at: world.now().toISOString(),
    moved: { refund: PRICES.mailTest },
    reason,
    paidFor: "mail_test" as const,
    token: world.newId("txn"),
  };
  const [proof, ...moves] = move(entry, shard);
  const { outcome } = await commit(
    world,
    mode === "live" ? { proof, also: [...moves, end] } : { proof: null, also: [end] },
  );
  if (outcome === "ambiguous") throw new Error("unknown whether the mail test was ended");
};

const SENDS_MAX = 6;

const Message = v.object({ test: v.string() });

export const assessMail: Worker<CheckWorld> = {
  queue: MAIL_TESTS_QUEUE,
  lambda: { batch: 1, concurrency: 5 },
  needs: ["table:readwrite", "queue:send", "blobs:read", "blobs:write", "dns", "activity"],
  async handle(world, body) {
    const test = await findMailTest(world.table, v.parse(Message, body).test);
    if (test?.status === "waiting" && test.mode === "test")
      await storeTestMail(world, test, createSandboxMail(test, world.now()));
    if (test?.status === "assessing") await assess(world, test);
  },

  giveUp: {
    needs: ["table:readwrite", "activity"],
    async handle(world, body) {
      const test = await findMailTest(world.table, v.parse(Message, body).test);
      if (test?.status === "assessing") await endMailTest(world, test, "failed");
    },
  },
};

const assess = async (world: CheckWorld, test: MailTest): Promise<void> => {
  const mail = await findMail(world.table, test.id);
  const raw = mail && (await readBody(world, mail));
  // Envelope and body outlast the message's repeats, so they are missing only after a fault or an erasure.
  if (!mail || !raw) return endMailTest(world, test, "failed");
  const { mailFrom, helo, ip, tls, receivedAt } = mail;
  const envelope = { mailFrom, helo, ip, ...(tls && { tls }), receivedAt: new Date(receivedAt) };
  const read = await readMail(world, test, raw);
  if (!read) return endMailTest(world, test, "failed");
  const names = test.mode === "test" ? createSandboxMailLookups() : world.names;
  const { dns, queries } = recordQueries(names.dns);
  const mailbox = await findAdvisedMailbox(world, test);
  const report = await assessMessage(
    { ...world, names: { ...names, dns } },
    envelope,
    read,
    mailbox,
  );
  // The message is sent again; a test that still fails is refunded.
  if (queries.some(({ kind }) => kind === "internal"))
    throw new Error("this service could not reach the DNS");
  await storeReport(world, test, mail, report);
};

const readMail = (
  { reading, log }: CheckWorld,
  { id, owner }: MailTest,
  raw: Uint8Array,
): Promise<ReadMessage | undefined> =>
  reading.run(owner, "readMessage", raw).catch((error: unknown) => {
    if (!(error instanceof ReportFault)) throw error;
    log("test_mail_refused", { id, path: error.path, what: error.what });
    return undefined;
  });

const readBody = async (
  { blobs }: Pick<World, "blobs">,
  { blob }: StoredMail,
): Promise<Uint8Array | undefined> => {
  const found = await blobs.get(blob);
  return found && Buffer.concat(await Array.fromAsync(found.content));
};

const storeReport = async (
  world: World,
  test: MailTest,
  mail: StoredMail,
  report: MessageReport,
): Promise<void> => {
  const { from } = report.header;
  const author = from ? hashAddress(world, test.owner, readAddress(from.address).canonical) : null;
  const { outcome } = await commit(world, {
    proof: { create: toReportItem(test, report, author) },
    also: [
      {
        update: toMailTestKey(test.id),
        set: { ...UNSCHEDULED, status: "received", fromDomain: from?.domain ?? null },
        where: { status: "assessing" },
      },
      createMailCheck(mail),
    ],
  });
  if (outcome === "ambiguous") throw new Error("unknown whether the report was stored");
};

const repairMailTest = async (world: CheckWorld, item: Item): Promise<string> => {
  const test = readMailTest(item);
  const isOpen = isUnexpired(Date.parse(test.openUntil), world.now().getTime(), OPEN_MS);
  if (test.status === "waiting" && !(test.mode === "test" && isOpen)) {
    await endMailTest(world, test, "expired");
    return "expired";
  }
  if (test.status === "assessing" && test.sends >= SENDS_MAX) {
    await endMailTest(world, test, "failed");
    return "given_up";
  }
  await world.table.write({ update: toMailTestKey(test.id), add: { sends: 1 } });
  await sendMailTest(world, test);
  return "sent_again";
};

export const mailTestWork: WorkKind<CheckWorld> = {
  kind: MAIL_TEST,
  repair: repairMailTest,
  longestWaitMs: OPEN_MS,
  deferredUntil: (item) => item["openUntil"],
};

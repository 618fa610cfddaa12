import { cacheDns } from "../dns/cache.ts";
import { withDeadline } from "../dns/deadline.ts";
import type { Dns } from "../dns/dns.ts";
import { sortRecords } from "../dns/sort-records.ts";
import { parseIp } from "../ip.ts";
import type { Clock } from "../lib/clock.ts";
import { createBodyHasher } from "./dkim/canonicalise.ts";
import { type DkimResult, type ReadDkim, readDkim, verifyDkim } from "./dkim/verify.ts";
import { checkDmarc, type MessageDmarc } from "./dmarc.ts";
import { readHeader } from "./header-summary.ts";
import type { ParsedMessage } from "./parse/message.ts";
import type { ReceivedMessage } from "./received-message.ts";
import { checkSpf, type MessageSpf } from "./spf.ts";

/** Shorter than the ten seconds that a caller may wait. */
export const BUDGET_MS = 8_000;
/** The most questions to the domain's name servers, and again to blocklists. A usual message needs 60 and 60. */
const QUESTIONS_MAX = 300;
const ANSWERS_BYTES_MAX = 32 * 1024 * 1024;

export const limitDns = (dns: Dns, { now, sleep }: Clock): Dns => {
  const startedAt = now();
  const budget = { budgetMs: BUDGET_MS, questionsMax: QUESTIONS_MAX, now, sleep };
  return cacheDns(withDeadline(sortRecords(dns), budget), {
    now: () => startedAt,
    bytesMax: ANSWERS_BYTES_MAX,
  });
};

export type Envelope = Omit<ReceivedMessage, "raw">;

/** RFC 5321 §4.5.3.1.2 limits a domain to 255 octets. */
const NAME_LENGTH_MAX = 255;

/** A socket of both families reports IPv4 clients as IPv6, and link-local clients with their interface. */
export const toPlainClient = <T extends Envelope>(message: T): T => ({
  ...message,
  helo: message.helo.slice(0, NAME_LENGTH_MAX),
  ip: message.ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "").replace(/%.*$/, ""),
});

export type Authentication = {
  readonly spf: MessageSpf | null;
  readonly dkim: readonly DkimResult[];
  readonly dmarc: MessageDmarc;
};

export type ReadAuthor = {
  /** Null when there is not exactly one author domain. */
  readonly from: string | null;
  readonly dkim: readonly ReadDkim[];
};

export const readAuthor = ({ fields, body }: ParsedMessage): ReadAuthor => ({
  from: readHeader(fields).from?.domain ?? null,
  dkim: readDkim(fields, createBodyHasher(body)),
});

export const authenticate = async (
  dns: Dns,
  message: Envelope,
  read: ReadAuthor,
): Promise<Authentication> => {
  const [spf, dkim] = await Promise.all([
    parseIp(message.ip) ? checkSpf(dns, message) : null,
    verifyDkim(dns, read.dkim, message.receivedAt),
  ]);
  return { spf, dkim, dmarc: await checkDmarc(dns, { from: read.from, spf, dkim }) };
};

export const judgeAuthor = async (
  dns: Dns,
  received: Envelope,
  read: ReadAuthor,
): Promise<MessageDmarc["result"]> => {
  const { dkim, dmarc } = await authenticate(dns, toPlainClient(received), read);
  // Any host may have added a part after the length of l= (RFC 6376 §8.2).
  const isOpenEnded = dkim.some(
    ({ result, unsignedBytes }) => result === "pass" && unsignedBytes > 0,
  );
  return dmarc.result === "pass" && isOpenEnded && !dmarc.spf.isAligned ? "fail" : dmarc.result;
};

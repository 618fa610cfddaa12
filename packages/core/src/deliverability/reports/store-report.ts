import { withDeadline } from "@mailproof/mail/dns/deadline";
import { type Dns, getRecords } from "@mailproof/mail/dns/dns";
import { isSameIp, parseIp, toReverseName } from "@mailproof/mail/ip";
import { getRetentionSeconds } from "../../accounts/retention.ts";
import { createUnavailableFailure, Failure } from "../../lib/failure.ts";
import { addMs, DAY_MS, toEpochSeconds, toUtcDay } from "../../lib/time.ts";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { TransactResult, Write } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { commit, type OutboxWrite, type Transaction } from "../../runtime/commit.ts";
import { emitEvent } from "../../webhooks/items.ts";
import type { CheckWorld } from "../dns-lookups.ts";
import { listMonitors } from "../monitor-items.ts";
import { createReadyWrites } from "../progress/ready-event.ts";
import { selectLookups } from "../sandbox.ts";
import { type DmarcReport, getReportDay, type Report, type SourceSums } from "./report.ts";
import {
  addStoredBytes,
  BYTES_PER_DAY_MAX,
  createAlert,
  packReport,
  type ReportWay,
  toAlertKey,
  toReportItem,
  toReportKey,
} from "./report-items.ts";
import { countReport } from "./reported-domains.ts";
import { countUnaligned, mergeSources } from "./source-sums.ts";

type NewReport = {
  readonly report: Report;
  readonly way: ReportWay;
  /** False for a report in mail that did not pass DMARC, which any host may have sent. The service shows it, but emits no event. */
  readonly isAuthenticated: boolean;
};

export type StoredReport = {
  readonly report: Report;
  readonly isDuplicate: boolean;
};

export const storeReport = async (
  world: CheckWorld,
  payer: Payer,
  { report, way, isAuthenticated }: NewReport,
): Promise<StoredReport> => {
  const owner = getOwnerId(payer);
  const key = toReportKey(owner, report, isAuthenticated);
  const other = toReportKey(owner, report, !isAuthenticated);
  // A repeat needs no DNS.
  if (await world.table.get(key)) return { report, isDuplicate: true };
  const hasOther = (await world.table.get(other)) !== undefined;
  if (hasOther && !isAuthenticated) return { report, isDuplicate: true };
  const named = await addNames(world, payer, report);
  const packed = packReport(named);
  const now = world.now();
  const expiresAt = toEpochSeconds(now) + getRetentionSeconds(payer);
  const item = toReportItem(key, packed, { by: world.newId("txn"), expiresAt });
  const proof = { create: item };
  const count = addStoredBytes(owner, { way, now, bytes: packed.length });
  const eventWrites = isAuthenticated ? await createEventWrites(world, payer, named) : [];
  const counted = isAuthenticated ? countReport(owner, { report, expiresAt }) : [];
  const result = await commitWith(world, { proof, also: [count, ...counted] }, [
    ...eventWrites,
    ...(hasOther ? [[{ remove: other }]] : []),
  ]);
  if (result.outcome === "committed") return { report, isDuplicate: false };
  if (result.outcome === "ambiguous") throw createUnknownFailure();
  if (result.refusedWrite === proof) return { report, isDuplicate: true };
  throw new Failure(
    "LIMIT_REACHED",
    "nothing_charged",
    `The reports that this account stored today have ${BYTES_PER_DAY_MAX} bytes, the most of a day. Send the others tomorrow.`,
  );
};

const createUnknownFailure = (): Failure =>
  createUnavailableFailure(
    "It is not known whether the report was stored. Send it again: it is stored once.",
  );

const addNames = async (world: CheckWorld, payer: Payer, report: Report): Promise<Report> => {
  if (report.type === "tls") return report;
  const { domain, sources } = report;
  const { dns } = selectLookups(world, payer.mode, { domain, sendingIp: null });
  return { ...report, sources: await nameSources(world, dns, sources) };
};

/** If another report of the domain was stored in between, with its event, this stores the report without one. */
const commitWith = async (
  world: CheckWorld,
  { proof, also = [] }: Transaction,
  eventWrites: readonly EventWrites[],
): Promise<TransactResult> => {
  const result = await commit(world, { proof, also: [...also, ...eventWrites.flat()] });
  if (result.outcome !== "refused") return result;
  const others = eventWrites.filter(([first]) => first !== result.refusedWrite);
  return others.length < eventWrites.length ? commitWith(world, { proof, also }, others) : result;
};

type EventWrites = readonly (Write | OutboxWrite)[];

/** Builds the effects of a report, each with its own state. The table refuses the first write of an effect that another report caused. */
const createEventWrites = async (
  world: CheckWorld,
  payer: Payer,
  report: Report,
): Promise<readonly EventWrites[]> => {
  if (report.type === "tls") return [];
  const alert = await createAlertWrites(world, getOwnerId(payer), report);
  const ready = await createReadyWrites(world, payer, report.domain, report);
  return [alert, ready ? [ready.state, ...(ready.event ? [ready.event] : [])] : []].filter(
    (writes) => writes.length > 0,
  );
};

/** Only a report about the last seven days emits an event: people upload older reports to complete the history. */
const RECENT_DAYS = 7;

/** For a monitored domain, emits at most one event a day about mail that is not aligned and not known as forwarded. */
const createAlertWrites = async (
  world: CheckWorld,
  owner: string,
  report: DmarcReport,
): Promise<EventWrites> => {
  const { table } = world;
  const now = world.now();
  const total = mergeSources(report.sources, null);
  if (countUnaligned(total) === 0) return [];
  if (getReportDay(report) < toUtcDay(addMs(now, -RECENT_DAYS * DAY_MS))) return [];
  const { domain } = report;
  if (await table.get(toAlertKey(owner, domain))) return [];
  const monitors = await listMonitors(table, owner);
  if (!monitors.some((monitor) => monitor.domain === domain)) return [];
  const event = emitEvent(world, owner, "dmarc.failed", {
    domain,
    check_id: null,
    status: "unaligned",
    policy: report.policy.p,
    issues: ["REPORT_UNALIGNED"],
    report: {
      reporter: report.reporter,
      report_id: report.reportId,
      day: getReportDay(report),
      messages: total.messages,
      unaligned: countUnaligned(total),
    },
  });
  return [createAlert(owner, domain, now), event];
};

/** Only the largest sources of a report get names, because each name needs two queries. */
const NAMED_MAX = 50;
const BUDGET_MS = 3_000;
const NAME_LENGTH_MAX = 253;

/**
 * Adds the names of the largest sources. A name counts only if it resolves back to the address, since the owner of an address
 * may give it any name (RFC 8601 §2.7.3). Without an answer a source has no name.
 */
const nameSources = async (
  { now, sleep }: Pick<World, "now" | "sleep">,
  dns: Dns,
  sources: readonly SourceSums[],
): Promise<readonly SourceSums[]> => {
  const limits = { budgetMs: BUDGET_MS, questionsMax: 2 * NAMED_MAX, now, sleep };
  const bounded = withDeadline(dns, limits);
  const named = sources.slice(0, NAMED_MAX).map(async (source) => {
    const host = source.ip === null ? undefined : await findHostName(bounded, source.ip);
    return host === undefined ? source : { ...source, host };
  });
  return [...(await Promise.all(named)), ...sources.slice(NAMED_MAX)];
};

const findHostName = async (dns: Dns, text: string): Promise<string | undefined> => {
  const ip = parseIp(text);
  if (!ip) return undefined;
  const [name] = getRecords(await dns("PTR", toReverseName(ip)));
  const host = name?.toLowerCase().replace(/\.$/, "");
  if (host === undefined || host.length > NAME_LENGTH_MAX) return undefined;
  const addresses = getRecords(await dns(ip.bits === 32 ? "A" : "AAAA", host));
  return addresses.some((address) => isSameIp(parseIp(address), ip)) ? host : undefined;
};

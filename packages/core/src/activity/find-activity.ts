import type { Address } from "@mailproof/mail/address";
import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import { hashAddress, listAddressHashes } from "../accounts/hashes.ts";
import type { CheckWorld } from "../deliverability/dns-lookups.ts";
import { toUtcDay } from "../lib/time.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import { getLeadingWord } from "../verify/sandbox.ts";
import { type Activity, getActivityLevel, toActivity } from "./activity-level.ts";
import { subtractDays } from "./days.ts";
import {
  type AddressRecord,
  type BlocklistStatus,
  CONTRIBUTORS_MIN,
  findRecord,
  findStoredStatus,
  SHARED_POOL,
  storeStatus,
} from "./items.ts";
import {
  type DomainActivity,
  type DomainReputation,
  findDomainActivity,
  NO_REPUTATION,
} from "./reputation.ts";

// Responses for test keys, documented in docs/test-keys.md.

/** Days since the last open, by the first word of the local part. Null when the address has no activity. */
export const SANDBOX_DAYS: Readonly<Record<string, number | null>> = {
  high: 2,
  medium: 45,
  low: 120,
  unknown: null,
};

const DEFAULT_WORD = "high";

/** Returns the same activity all day: all times are relative to the day. */
const getSandboxActivity = ({ local }: Address, now: Date): Activity | undefined => {
  const word = getLeadingWord(local);
  const days = SANDBOX_DAYS[Object.hasOwn(SANDBOX_DAYS, word) ? word : DEFAULT_WORD] ?? null;
  if (days === null) return undefined;
  const lastOpen = `${subtractDays(now, days)}T09:30:00.000Z`;
  const lastClick = `${subtractDays(now, days + 5)}T09:31:00.000Z`;
  const level = getActivityLevel(lastOpen, lastClick, now);
  const isRecent = level === "high";
  return {
    lastSeen: lastOpen,
    lastOpen,
    lastClick,
    level,
    opens: 12,
    clicks: 3,
    opensLast30Days: isRecent ? 4 : 0,
    clicksLast30Days: isRecent ? 1 : 0,
    machine: 2,
    rates: { inbox: 0.96, spam: 0, bounce: 0.04 },
  };
};

const GOOD: DomainActivity = {
  score: 88,
  level: "good",
  trend: "stable",
  activeAddresses: 250,
  engagement: 0.24,
  bounce: 0.012,
  spam: 0.0002,
};
const POOR: DomainActivity = {
  score: 22,
  level: "poor",
  trend: "declining",
  activeAddresses: 250,
  engagement: 0.05,
  bounce: 0.051,
  spam: 0.004,
};

type SandboxDomain = { readonly activity: DomainActivity; readonly listed: boolean | null };

export const SANDBOX_REPUTATIONS: Readonly<Record<string, SandboxDomain>> = {
  poor: { activity: POOR, listed: false },
  listed: { activity: GOOD, listed: true },
  /** The domain has too few addresses to report, and no blocklist gave a verdict. */
  unknown: { activity: NO_REPUTATION, listed: null },
};

const getSandboxReputation = (domain: string, now: Date): DomainReputation => {
  const label = domain.split(".")[0] ?? "";
  const { activity, listed } = (Object.hasOwn(SANDBOX_REPUTATIONS, label) &&
    SANDBOX_REPUTATIONS[label]) || { activity: GOOD, listed: false };
  return { ...activity, blocklist: { listed, checkedAt: `${toUtcDay(now)}T00:00:00.000Z` } };
};

const RETENTION_SECONDS = 86_400;
/** When no list gave a verdict, the service checks again soon. */
const RETENTION_WITHOUT_VERDICT_SECONDS = 900;

/** A short budget, because the client waits for this check. */
const BUDGET = { budgetMs: 4_000, questionsMax: 100 };

/** Returns the status on the domain blocklists, at most a day old. The status is public, so all accounts share it. */
const findBlocklistStatus = async (world: CheckWorld, domain: string): Promise<BlocklistStatus> => {
  const cached = await findStoredStatus(world.table, domain);
  if (cached) return cached;
  const status = await queryBlocklists(world, domain);
  const retentionSeconds =
    status.listed === null ? RETENTION_WITHOUT_VERDICT_SECONDS : RETENTION_SECONDS;
  // Ignores a failed write: the next request queries the lists again.
  await world.table.write(storeStatus(domain, status, retentionSeconds)).catch(() => undefined);
  return status;
};

const queryBlocklists = async (world: CheckWorld, domain: string): Promise<BlocklistStatus> => {
  const { listDns, blocklists } = world.names;
  const { listsFor, ...options } = blocklists;
  const dns = withDeadline(listDns, { ...BUDGET, now: world.now, sleep: world.sleep });
  // Without an IP address only domain lists are queried.
  const about = { domain, ip: null, lists: listsFor(domain) };
  const analysis = await analyseBlocklists(dns, { ...about, ...options });
  return {
    listed: analysis.checked === 0 ? null : analysis.listed > 0,
    checkedAt: world.now().toISOString(),
  };
};

/** Returns the activity of an address that the account may see; undefined when no event was ever reported. */
export const findActivity = async (
  world: World,
  payer: Payer,
  address: Address,
): Promise<Activity | undefined> => {
  const now = world.now();
  if (payer.mode === "test") return getSandboxActivity(address, now);
  const pooled = await findPooledRecord(world, address);
  if (pooled) return toActivity(pooled, now);
  const own = await findOwnRecord(world, getOwnerId(payer), address);
  return own && toActivity(own, now);
};

export const findReputation = async (
  world: CheckWorld,
  payer: Payer,
  domain: string,
): Promise<DomainReputation> => {
  if (payer.mode === "test") return getSandboxReputation(domain, world.now());
  const [activity, blacklist] = await Promise.all([
    findDomainActivity(world, payer, domain),
    findBlocklistStatus(world, domain),
  ]);
  return { ...activity, blocklist: blacklist };
};

const findOwnRecord = (
  world: World,
  owner: string,
  { canonical }: Address,
): Promise<AddressRecord | undefined> =>
  findRecord(world.table, ...listAddressHashes(world, owner, canonical));

/**
 * Returns the shared pool's record once enough accounts contributed to it. Times are truncated to days, because the hour at
 * which a person reads mail is private. A record by the key before does not count: its tags would count each account twice.
 */
const findPooledRecord = async (
  world: World,
  address: Address,
): Promise<AddressRecord | undefined> => {
  if (world.settings.activityPool !== "shared") return undefined;
  const record = await findRecord(world.table, hashAddress(world, SHARED_POOL, address.canonical));
  return record && record.marks.length >= CONTRIBUTORS_MIN
    ? { ...record, lastOpen: toMidnight(record.lastOpen), lastClick: toMidnight(record.lastClick) }
    : undefined;
};

const toMidnight = (at: string | null): string | null => at && `${at.slice(0, 10)}T00:00:00.000Z`;

import type { CheckWorld } from "../deliverability/dns-lookups.ts";
import { analyseBlocklists } from "../mail/blocklists/analyse.ts";
import { withDeadline } from "../mail/dns/deadline.ts";
import { type BlocklistStatus, findStoredStatus, storeStatus } from "./items.ts";

const RETENTION_SECONDS = 86_400;
/** Where no list gave a verdict, one may soon. */
const RETENTION_WITHOUT_VERDICT_SECONDS = 900;

/** The caller waits for it. */
const BUDGET = { budgetMs: 4_000, questionsMax: 100 };

/**
 * What the blocklists of domains said at the last look, which is at most a day ago. It is a fact of the internet, and
 * everybody's.
 */
export const findBlocklistStatus = async (
  world: CheckWorld,
  domain: string,
): Promise<BlocklistStatus> => {
  const cached = await findStoredStatus(world.table, domain);
  if (cached) return cached;
  const status = await queryBlocklists(world, domain);
  const retentionSeconds =
    status.listed === null ? RETENTION_WITHOUT_VERDICT_SECONDS : RETENTION_SECONDS;
  // Not kept is not wrong: the next one asks again.
  await world.table.write(storeStatus(domain, status, retentionSeconds)).catch(() => undefined);
  return status;
};

const queryBlocklists = async (world: CheckWorld, domain: string): Promise<BlocklistStatus> => {
  const { listDns, blocklists } = world.names;
  const { listsFor, ...options } = blocklists;
  const dns = withDeadline(listDns, { ...BUDGET, now: world.now, sleep: world.sleep });
  // Without an address the lists of addresses are left out.
  const about = { domain, ip: null, lists: listsFor(domain) };
  const analysis = await analyseBlocklists(dns, { ...about, ...options });
  return {
    listed: analysis.checked === 0 ? null : analysis.listed > 0,
    checkedAt: world.now().toISOString(),
  };
};

import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { CheckWorld } from "../deliverability/dns-lookups.ts";
import { type BlocklistStatus, findStoredStatus, storeStatus } from "./items.ts";

const RETENTION_SECONDS = 86_400;
/** When no list gave a verdict, the service checks again soon. */
const RETENTION_WITHOUT_VERDICT_SECONDS = 900;

/** A short budget, because the client waits for this check. */
const BUDGET = { budgetMs: 4_000, questionsMax: 100 };

/** Returns the status on the domain blocklists, at most a day old. The status is public, so all accounts share it. */
export const findBlocklistStatus = async (
  world: CheckWorld,
  domain: string,
): Promise<BlocklistStatus> => {
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

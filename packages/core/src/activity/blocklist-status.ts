import { analyseBlocklists } from "@mailproof/mail/blocklists/analyse";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { CheckWorld } from "../deliverability/dns-lookups.ts";
import { type BlocklistStatus, findStoredStatus, storeStatus } from "./items.ts";

const RETENTION_SECONDS = 86_400;
/** Without a verdict of any list, the next check is soon. */
const RETENTION_WITHOUT_VERDICT_SECONDS = 900;

/** Short, because the client waits for it. */
const BUDGET = { budgetMs: 4_000, questionsMax: 100 };

/** The latest status on the domain blocklists, at most a day old. It is public, so all accounts share it. */
export const findBlocklistStatus = async (
  world: CheckWorld,
  domain: string,
): Promise<BlocklistStatus> => {
  const cached = await findStoredStatus(world.table, domain);
  if (cached) return cached;
  const status = await queryBlocklists(world, domain);
  const retentionSeconds =
    status.listed === null ? RETENTION_WITHOUT_VERDICT_SECONDS : RETENTION_SECONDS;
  // Best effort: without the stored status the next request asks the lists again.
  await world.table.write(storeStatus(domain, status, retentionSeconds)).catch(() => undefined);
  return status;
};

const queryBlocklists = async (world: CheckWorld, domain: string): Promise<BlocklistStatus> => {
  const { listDns, blocklists } = world.names;
  const { listsFor, ...options } = blocklists;
  const dns = withDeadline(listDns, { ...BUDGET, now: world.now, sleep: world.sleep });
  // Without an IP address the IP lists are not asked.
  const about = { domain, ip: null, lists: listsFor(domain) };
  const analysis = await analyseBlocklists(dns, { ...about, ...options });
  return {
    listed: analysis.checked === 0 ? null : analysis.listed > 0,
    checkedAt: world.now().toISOString(),
  };
};

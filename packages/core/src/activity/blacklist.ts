import type { CheckWorld } from "../deliverability/names.ts";
import { analyseBlocklists } from "../mail/blocklists/analyse.ts";
import { withDeadline } from "../mail/dns/budget.ts";
import { findListed, keepListed, type Listed } from "./items.ts";

const KEPT_SECONDS = 86_400;
/** Where no list gave a verdict, one may soon. */
const KEPT_WITHOUT_VERDICT_SECONDS = 900;

/** The caller waits for it. */
const BUDGET = { budgetMs: 4_000, questionsMax: 100 };

/**
 * What the blocklists of domains said at the last look, which is at most a day ago. It is a fact of the internet, and
 * everybody's.
 */
export const blacklistStatus = async (world: CheckWorld, domain: string): Promise<Listed> => {
  const known = await findListed(world.table, domain);
  if (known) return known;
  const listed = await look(world, domain);
  const keptSeconds = listed.listed === null ? KEPT_WITHOUT_VERDICT_SECONDS : KEPT_SECONDS;
  // Not kept is not wrong: the next one asks again.
  await world.table.write(keepListed(domain, listed, keptSeconds)).catch(() => undefined);
  return listed;
};

const look = async (world: CheckWorld, domain: string): Promise<Listed> => {
  const { listDns, blocklists } = world.names;
  const { listsFor, ...knowing } = blocklists;
  const dns = withDeadline(listDns, { ...BUDGET, now: world.now, sleep: world.sleep });
  // Without an address the lists of addresses are left out.
  const about = { domain, ip: null, lists: listsFor(domain) };
  const found = await analyseBlocklists(dns, { ...about, ...knowing });
  return {
    listed: found.checked === 0 ? null : found.listed > 0,
    checkedAt: world.now().toISOString(),
  };
};

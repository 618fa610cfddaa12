import type { Dns, DnsOutcome, DnsRecordType } from "@mailproof/mail/dns/dns";
import { isFault } from "@mailproof/mail/dns/outcome";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { World } from "../ports/world.ts";

// All accounts share the answers of DNS, which are public. That one of them asked for a name is not: so an account's own
// first question takes as long as it did without a cached answer.

/** An answer may stay that long in the resolver's own cache, which is shared as well. */
const REMEMBERED_MS = 24 * 3_600_000;
/**
 * Names with the time that each took, and names with an account that queried them: some 20 MB each. The one used longest
 * ago is forgotten: then a name is fast for everybody, or slow once more for an account.
 */
const NAMES_MAX = 100_000;

/** Three attempts at a resolver that is silent. */
const DURATION_MAX_MS = 5_000;

type TimingPorts = { readonly dns: Dns } & Pick<World, "now" | "sleep">;

/** DNS as one account sees it. "" is the only user of a process. */
export const equalizeTiming = ({ dns, now, sleep }: TimingPorts): ((account: string) => Dns) => {
  const firstDurations = createRecentMap<number>(now);
  const queriedBy = createRecentMap<true>(now);

  const waitAsFirst = async (
    question: string,
    { account, durationMs: tookMs }: { readonly account: string; readonly durationMs: number },
  ): Promise<void> => {
    const firstMs = firstDurations.getOrSet(question, tookMs).value;
    const { isNew } = queriedBy.getOrSet(`${account} ${question}`, true);
    if (isNew && firstMs > tookMs) await sleep(firstMs - tookMs);
  };

  return (account) =>
    async <T extends DnsRecordType>(type: T, name: string) => {
      const startedMs = now().getTime();
      const outcome = await dns(type, name);
      // A clock that jumped meanwhile delays no answer for longer than a question may take.
      const tookMs = Math.min(Math.max(now().getTime() - startedMs, 0), DURATION_MAX_MS);
      // A fault is shared for seconds only, and the next answer may be as fast as any.
      if (!isFault(outcome as DnsOutcome<unknown>))
        await waitAsFirst(`${type} ${name.toLowerCase()}`, { account, durationMs: tookMs });
      return outcome;
    };
};

/** A map that forgets what is a day old, and above its bound what was used longest ago. */
const createRecentMap = <T>(now: () => Date) => {
  const entries = createBoundedMap<{ readonly value: T; readonly untilMs: number }>({
    weightMax: NAMES_MAX,
  });

  /** The value, which is stored now unless the map has one. */
  const getOrSet = (key: string, value: T): { readonly value: T; readonly isNew: boolean } => {
    const atMs = now().getTime();
    const entry = entries.get(key);
    if (entry && atMs < entry.untilMs) return { value: entry.value, isNew: false };
    entries.set(key, { value, untilMs: atMs + REMEMBERED_MS });
    return { value, isNew: true };
  };

  return { getOrSet };
};

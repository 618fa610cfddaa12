import { POLICIES } from "@mailproof/mail/dmarc/record";
import * as v from "valibot";
import { DAY_MS, toEpochSeconds, toUtcDay } from "../../lib/time.ts";
import { getOwnerId, type Payer } from "../../money/payer.ts";
import { findItem, type Key, type Table, type Write } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";
import { commit, type OutboxWrite } from "../../runtime/commit.ts";
import { emitEvent } from "../../webhooks/items.ts";
import { listMonitors } from "../monitor-items.ts";
import type { Report } from "../reports/report.ts";
import { readEvidence } from "./evidence.ts";
import { judgeReadiness } from "./readiness.ts";

// Layout. The last readiness of a monitored domain, judged once a day from a check and once from a report, and written with its
// event.
//
//   pk                            sk          content
//   DMARCREADY#<owner>#<domain>   DMARCREADY  the days, policy, readyFor: null while the domain is not ready

const ReadyState = v.object({
  /** The last days (UTC) on which a check or a report caused a judgement. Empty before the first one. */
  check: v.string(),
  report: v.string(),
  policy: v.nullable(v.picklist(POLICIES)),
  readyFor: v.nullable(v.picklist(POLICIES)),
});

type ReadyState = Readonly<v.InferOutput<typeof ReadyState>>;

const toReadyKey = (owner: string, domain: string): Key => ({
  pk: `DMARCREADY#${owner}#${domain}`,
  sk: "DMARCREADY",
});

const findReadyState = (
  table: Table,
  owner: string,
  domain: string,
): Promise<ReadyState | undefined> =>
  findItem(table, toReadyKey(owner, domain), (item) => v.parse(ReadyState, item));

/** Longer than a monitor's longest interval, so a domain that stays ready emits no second event. */
const RETENTION_SECONDS = (100 * DAY_MS) / 1_000;

/** The table refuses the write when another process judged the domain in between: then `before` is outdated. */
const createStateWrite = (
  key: Key,
  state: ReadyState,
  { before, now }: { readonly before: ReadyState | undefined; readonly now: Date },
): Write => {
  const fields = { ...state, expires_at: toEpochSeconds(now) + RETENTION_SECONDS };
  return before
    ? { update: key, set: fields, where: { check: before.check, report: before.report } }
    : { create: { ...key, ...fields } };
};

type ReadyPayer = Pick<Payer, "account" | "mode">;

export type ReadyWrites = {
  /** The table refuses the write when another process judged the domain in between. */
  readonly state: Write;
  /** Null when the domain is not ready, or its owner was notified. */
  readonly event: OutboxWrite | null;
};

/**
 * Judges a monitored domain once a day for each cause. The event depends on the change of the stored state and not on its
 * cause: a crash in between delays it until the next report or check.
 */
export const createReadyWrites = async (
  world: World,
  payer: ReadyPayer,
  domain: string,
  incoming: Report | null,
): Promise<ReadyWrites | null> => {
  const owner = getOwnerId(payer);
  const now = world.now();
  const day = toUtcDay(now);
  const before = await findReadyState(world.table, owner, domain);
  const cause = incoming ? "report" : "check";
  if (before?.[cause] === day) return null;
  const monitors = await listMonitors(world.table, owner);
  if (!monitors.some((monitor) => monitor.domain === domain)) return null;
  const evidence = await readEvidence(world, payer, domain, incoming ?? undefined);
  const readiness = judgeReadiness(evidence);
  const { policy, readyFor } = readiness;
  const { check } = evidence;
  const isNew = before?.readyFor !== readyFor || before.policy !== policy;
  const mayEmit = isNew && policy !== null && readyFor !== null && check !== null;
  const { alignedShare, messages, daysAtPolicy } = readiness.mail;
  return {
    state: createStateWrite(
      toReadyKey(owner, domain),
      { ...(before ?? { check: "", report: "" }), [cause]: day, policy, readyFor },
      { before, now },
    ),
    event: mayEmit
      ? emitEvent(world, owner, "dmarc.ready", {
          domain,
          check_id: check.id,
          policy,
          ready_for: readyFor,
          aligned_share: alignedShare ?? 0,
          messages,
          days: daysAtPolicy,
        })
      : null,
  };
};

export const emitIfReady = async (
  world: World,
  payer: ReadyPayer,
  domain: string,
): Promise<void> => {
  const writes = await createReadyWrites(world, payer, domain, null);
  if (!writes) return;
  const { state, event } = writes;
  if (event) await commit(world, { proof: event, also: [state] });
  else await world.table.write(state);
};

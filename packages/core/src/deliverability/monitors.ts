import * as v from "valibot";
import { getAccountStatus, toPayer } from "../accounts/account-items.ts";
import { getAccount } from "../accounts/accounts.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { addMs, HOUR_MS } from "../lib/time.ts";
import { getOwnerId, type Payer, toQueueGroup } from "../money/payer.ts";
import { findMember } from "../people/members.ts";
import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { WorkKind } from "../runtime/work-kind.ts";
import type { Worker } from "../runtime/worker.ts";
import { checkOnce } from "./check-once.ts";
import type { CheckWorld } from "./dns-lookups.ts";
import type { CheckSubject } from "./items.ts";
import {
  createMonitorDecrement,
  createMonitorIncrement,
  findMonitor,
  INTERVAL_HOURS,
  MONITOR,
  MONITORS_MAX,
  type Monitor,
  type MonitorProblem,
  parseMonitor,
  toMonitorId,
  toMonitorItem,
  toMonitorKey,
} from "./monitor-items.ts";
import { emitIfReady } from "./progress/ready-event.ts";

/** A check takes at most ten seconds; meanwhile the queue must not deliver its message again. */
export const MONITORS = {
  name: "monitors",
  visibilitySeconds: 120,
  receivesMax: 5,
  concurrency: 20,
};

type MonitorRequest = CheckSubject & { readonly intervalHours: number };

/** Adds a monitor. An existing monitor gets the new interval, and who pays, from its next run on. */
export const addMonitor = async (
  world: World,
  payer: Payer,
  { domain, sendingIp, intervalHours }: MonitorRequest,
): Promise<{ readonly monitor: Monitor; readonly isNew: boolean }> => {
  const owner = getOwnerId(payer);
  const createdAt = world.now().toISOString();
  const monitor: Monitor = {
    id: toMonitorId(owner, { domain, sendingIp }),
    owner,
    account: payer.account,
    mode: payer.mode,
    ...toWhoPays(payer),
    domain,
    sendingIp,
    intervalHours,
    createdAt,
    nextAt: createdAt,
    last: null,
    problem: null,
  };
  const create = { create: toMonitorItem(monitor, world.newId("txn")) };
  const result = await world.table.transact([create, createMonitorIncrement(owner)]);
  if (result.outcome === "ambiguous") throw createUnsureFailure();
  if (result.outcome === "committed") {
    await send(world, monitor);
    return { monitor, isNew: true };
  }
  if (result.refusedWrite === create)
    return { monitor: await updateInterval(world, payer, monitor), isNew: false };
  const what = `${MONITORS_MAX} domains are monitored already; remove one first.`;
  throw new Failure("LIMIT_REACHED", "nothing_charged", what);
};

const toWhoPays = ({ person }: Payer) => ({
  person: person?.id,
  monthlyHalves: person?.monthlyHalves,
});

const updateInterval = async (
  world: World,
  payer: Payer,
  { id, intervalHours }: Monitor,
): Promise<Monitor> => {
  const written = await world.table.write({
    update: toMonitorKey(id),
    // Whoever sets the interval causes the checks: a limited member must not cause those of another.
    set: { intervalHours, ...toWhoPays(payer) },
    where: { id },
  });
  if (written.outcome !== "committed" || !written.item) throw createUnsureFailure();
  return parseMonitor(written.item);
};

const createUnsureFailure = () =>
  createUnavailableFailure("The outcome of this request is not known; send it again.");

export const removeMonitor = async (world: World, { id, owner }: Monitor): Promise<boolean> => {
  const { outcome } = await world.table.transact([
    { remove: toMonitorKey(id), where: { id } },
    createMonitorDecrement(owner),
  ]);
  if (outcome === "ambiguous") throw createUnsureFailure();
  return outcome === "committed";
};

/** A message is for one run of one monitor: when it arrives twice, the second receiver finds the run ended. */
const Message = v.object({ monitor: v.string(), at: v.string() });

const send = async (world: World, { id, owner, nextAt }: Monitor): Promise<void> => {
  const message = { body: { monitor: id, at: nextAt }, ...toQueueGroup(owner) };
  await world.queue.sendMany(MONITORS.name, [message]);
};

/** The monitor stays scheduled until its run is done, so a lost message is sent again. */
const sendScheduledMonitor = async (world: World, item: Item): Promise<string> => {
  await send(world, parseMonitor(item));
  return "sent";
};

export const runMonitor: Worker<CheckWorld> = {
  queue: MONITORS,
  lambda: { batch: 1, concurrency: 5 },
  needs: ["table:readwrite", "queue:send", "dns"],
  async handle(world, body) {
    const { monitor: id, at } = v.parse(Message, body);
    const monitor = await findMonitor(world.table, id);
    if (monitor?.nextAt !== at) return;
    const runResult = await run(world, monitor);
    await advance(world, monitor, runResult);
    if (typeof runResult !== "string") await emitIfReady(world, monitor, monitor.domain);
  },

  giveUp: {
    needs: ["table:readwrite"],
    async handle(world, body) {
      const { monitor: id, at } = v.parse(Message, body);
      const monitor = await findMonitor(world.table, id);
      if (monitor?.nextAt === at) await advance(world, monitor, "failed");
    },
  },
};

/** Each run has its own key, so however often it starts, it is charged once. */
const run = async (
  world: CheckWorld,
  { id, nextAt, account: accountId, mode, domain, sendingIp, owner, ...monitor }: Monitor,
): Promise<NonNullable<Monitor["last"]> | MonitorProblem> => {
  const account = await getAccount(world.table, accountId);
  if (getAccountStatus(account) !== "active") return "failed";
  const { person } = monitor;
  const { monthlyHalves } =
    (person && (await findMember(world.table, accountId, person))) || monitor;
  const payer = {
    ...toPayer(account, mode),
    ...(person !== undefined && { person: { id: person, monthlyHalves } }),
  };
  const claimKey = { owner, action: "monitor", key: `${id} ${nextAt}`, fingerprint: nextAt };
  const request = { domain, sendingIp, refresh: false };
  try {
    const { check } = await checkOnce(world, payer, request, {
      idempotencyKey: { ...claimKey, retentionSeconds: RUN_RETENTION_SECONDS },
      reason: "monitor",
    });
    const { id: checkId, score, grade, confidence, checkedAt } = check;
    return { check: checkId, score, grade, confidence, checkedAt };
  } catch (cause) {
    const problem = cause instanceof Failure ? toProblem(cause) : undefined;
    if (!problem) throw cause;
    return problem;
  }
};

/** The key outlives the retries of any run. */
const RUN_RETENTION_SECONDS = 7 * 86_400;

/** Undefined when the run has not ended, so the queue delivers the message again. */
const toProblem = ({ code, money }: Failure): MonitorProblem | undefined => {
  if (code === "INSUFFICIENT_CREDITS") return "insufficient_credits";
  const isOver = money === "refunded" || money === "nothing_charged";
  if (!isOver) return undefined;
  return code === "UNAVAILABLE" ? "no_verdict" : "failed";
};

/** A run that was not charged may be retried sooner. */
const AFTER_PROBLEM_MS = HOUR_MS;

/** The interval starts at the end of a run, so the next run finds a result that is a whole interval old, and checks again. */
const advance = async (
  world: World,
  { id, nextAt, intervalHours }: Monitor,
  runResult: NonNullable<Monitor["last"]> | MonitorProblem,
): Promise<void> => {
  const isProblem = typeof runResult === "string";
  const next = addMs(world.now(), isProblem ? AFTER_PROBLEM_MS : intervalHours * HOUR_MS);
  const { outcome } = await world.table.write({
    update: toMonitorKey(id),
    set: {
      ...(isProblem ? { problem: runResult } : { last: runResult, problem: null }),
      nextAt: next.toISOString(),
      due_sk: next.toISOString(),
    },
    where: { nextAt },
  });
  // "refused": the monitor was removed, or another process did this run.
  if (outcome === "ambiguous") throw new Error("the outcome of advancing the monitor is ambiguous");
};

export const monitorWork: WorkKind = {
  kind: MONITOR,
  repair: sendScheduledMonitor,
  longestWaitMs: INTERVAL_HOURS.most * HOUR_MS,
  deferredUntil: (item) => item["nextAt"],
};

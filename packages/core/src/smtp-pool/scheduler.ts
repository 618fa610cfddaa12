import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { createCircuitBreaker } from "./circuit-breaker/circuit-breaker.ts";
import { limitHostConnections } from "./connect.ts";
import { NO_QUOTA } from "./daily-limits.ts";
import { createEgressHealth, createExits, toCircuitSubject } from "./exits.ts";
import {
  createSessionShares,
  type Requester,
  type SessionShares,
  SOLE_REQUESTER,
} from "./fairness.ts";
import {
  adjustBatchSize,
  avoidPipelining,
  chooseHosts,
  chooseQueue,
  createHostQueues,
  createSlotRequest,
  decidePipelining,
  GATHER_MS,
  GATHER_ROWS_MS,
  type HostQueue,
  type HostQueues,
  isGathering,
} from "./host-queues.ts";
import type { PendingProbe, Probe, ProbeResult } from "./probe.ts";
import {
  applyBackoff,
  findStandingRefusal,
  type ProviderState,
  toSharedOutcome,
} from "./providers.ts";
import { createDailyLimitResult, createRefusedResult, toProbeResult } from "./results.ts";
import type { ProbePorts, SessionPorts } from "./session.ts";
import { createLocalSlots } from "./slots/local-slots.ts";
import { runWithSlot, type SlotSessionSummary } from "./slots/run-with-slot.ts";
import { createReturn, createSlotTimeout, joinSlotWait } from "./slots/slot-wait.ts";
import { resumeTurn, type SlotReturn } from "./slots/slots.ts";
import { createMoves, createWaitingProbes, listQueuesAt } from "./waiting-probes.ts";

export const createProbe = (ports: ProbePorts): Probe => {
  const connect = limitHostConnections(ports.connect, ports.sleep);
  const {
    slots = createLocalSlots(ports),
    quota = NO_QUOTA,
    breaker = createCircuitBreaker({ now: ports.now, sleep: ports.sleep }),
  } = ports;
  const sessionPorts: SessionPorts = {
    ...ports,
    connect,
    slots,
    breaker,
    quota,
    egress: createEgressHealth(),
    exits: createExits({ ...ports, breaker }),
  };
  const queues = createHostQueues(sessionPorts.exits);
  const { join, drop, serve } = createScheduler(queues, sessionPorts);

  const { random, sleep } = sessionPorts;
  const ask: Probe = (question) =>
    new Promise((resolve) => {
      const { hostsKey, hosts } = chooseHosts(question.hosts, queues, random);
      const { requester = SOLE_REQUESTER, waitMs } = question;
      // Rows of lists have no deadline, and so nothing to abort.
      const deadline = waitMs === undefined ? undefined : new AbortController();
      const resolveInTime = (result: ProbeResult): void => {
        deadline?.abort("answered");
        resolve(result);
      };
      const own = { requester, unknownRecipients: [], hosts, resolve: resolveInTime };
      const waitsSinceMs = sessionPorts.now().getTime();
      const fresh = { failures: 0, isExpired: false, refusedExits: [], leftExits: [] };
      const waiting = { fallbacks: [], ...question, ...own, ...fresh, waitsSinceMs };
      const queue = chooseQueue(queues, waiting, { hostsKey, hosts, random });
      const isFirst = !queue.waiting.has(requester);
      resumeTurn(queue, queue.slotKey, question.ticket);
      const early = findEarlyResult(sessionPorts, queue, waiting);
      const turnedAway = findTurnedAway(queue, sessionPorts.now());
      if (early) resolve(early);
      else if (turnedAway) resolveAll(sessionPorts, queue, [waiting], turnedAway);
      else {
        join(queue, waiting);
        if (waitMs !== undefined) void sleep(waitMs, deadline?.signal).then(() => drop(waiting));
      }
      // Recipients that arrive in the same tick share the session.
      if (isFirst) void sleep(0).then(() => serve(queue));
    });
  const { warmUp } = ports;
  return warmUp ? (question) => warmUp.ready().then(() => ask(question)) : ask;
};

/** Opens as many sessions for each host queue as the limits of the server and of this process allow. */
const createScheduler = (queues: HostQueues, sessionPorts: SessionPorts) => {
  const shares = createSessionShares(sessionPorts.sessionsMax);
  const waiting = createWaitingProbes((queue, one) =>
    resolveAll(sessionPorts, queue, [one], createReturn(queue, sessionPorts.now(), 0)),
  );
  const updateQueue = createQueueUpdater(queues, shares);
  const parts = { queues, sessionPorts, waiting, shares };
  const moves = createMoves(parts, updateQueue, (at) => serve(at));
  const resolveWaiting = createWaitingResolver(parts, updateQueue);

  const serve = (queue: HostQueue): void => {
    while (mayOpen(queue)) {
      const opener = queue.waiting.requesters().find(shares.mayOpen);
      if (!opener || isGathering(queue, opener)) break;
      if (!hasSlot(sessionPorts, queue)) return waitForSlot(queue.provider);
      void runNext(queue, opener);
    }
    updateQueue(queue);
  };

  const runNext = async (queue: HostQueue, opener: Requester): Promise<void> => {
    const { provider } = queue;
    const taken = dropEarly(sessionPorts, queue, waiting.take(queue, opener));
    const batch = moves.keepAdmitted(queue, taken);
    if (batch.length === 0) return updateQueue(queue);
    countSession(queue, 1, batch.length);
    gather(sessionPorts, queue, serve);
    shares.open(opener);
    updateQueue(queue);
    const { shouldEnd, hasEnded } = createEarlyEnd(provider, batch);
    const session = { ...sessionPorts, shouldEnd, pipelining: decidePipelining(queue) };
    const request = createSlotRequest(queue, opener, batch.length, moves.mayMove(queue, batch));
    const summary = await runWithSlot(session, queue.slotKey, batch, request);
    const isShort = shares.close(opener);
    countSession(queue, -1, batch.length);
    moves.putBack(queue, request, summary);
    if (summary.lostFlight) avoidPipelining(queue);
    if (hasEnded()) provider.yielding--;
    else adjustBatchSize(queue, batch.length, summary.remaining.length);
    queue.isFull = summary.isFull;
    const { comeBack } = summary;
    if (comeBack) resolveWaiting(queue, { outcome: createSlotTimeout(queue.slotKey), comeBack });
    else if (summary.isFull) waitForSlot(provider, summary.pauseMs);
    else recordOutcome(provider, summary);
    serveOthers(provider, { any: isShort, afresh: !summary.isFull });
    gatherRows(parts, queue, opener, serve);
    updateQueue(queue);
  };

  const recordOutcome = (provider: ProviderState, summary: SlotSessionSummary): void => {
    provider.slotWait.since = null;
    applyBackoff(provider, summary, sessionPorts, () => resume(provider));
    if (provider.isBackingOff) moves.moveWaiting(provider);
    for (const queue of listQueuesAt(queues, provider)) {
      const turnedAway = findTurnedAway(queue, sessionPorts.now());
      if (turnedAway) resolveWaiting(queue, turnedAway);
    }
  };

  const waitForSlot = (provider: ProviderState, pauseMs?: number): void => {
    if (joinSlotWait(provider.slotWait, sessionPorts, () => resume(provider), pauseMs)) return;
    for (const queue of listQueuesAt(queues, provider))
      resolveWaiting(queue, createReturn(queue, sessionPorts.now()));
  };

  /** Gives the freed session to a queue of the same provider, or with `any` to a queue of any provider. */
  const serveOthers = (provider: ProviderState, { any = false, afresh = false }): void => {
    if (afresh) clearFull(queues, provider);
    const isEligible = (queue: HostQueue) => any || queue.provider === provider;
    openSessions(parts, isEligible, runNext).forEach((one) => waitForSlot(one));
  };

  const resume = (provider: ProviderState): void => {
    serveOthers(provider, { afresh: true });
    queues.forget(provider);
  };

  return { join: waiting.join, drop: (one: PendingProbe) => waiting.drop(one, updateQueue), serve };
};

/** After a session has begun: the recipients of the next moments share the queue's next one. */
const gather = (
  { sleep }: SessionPorts,
  queue: HostQueue,
  serve: (queue: HostQueue) => void,
): void => {
  if (queue.hasJustOpened) return;
  queue.hasJustOpened = true;
  void sleep(GATHER_MS).then(() => {
    queue.hasJustOpened = false;
    // Without a session nothing was held back, and without a slot the wait for one goes on.
    if (queue.sessions > 0 && !queue.isFull) serve(queue);
  });
};

/** After a session has ended: the rows of a large list that come in the next moments share the next one. */
const gatherRows = (
  { sessionPorts, shares }: SchedulerParts,
  queue: HostQueue,
  opener: Requester,
  serve: (queue: HostQueue) => void,
): void => {
  if (queue.gathersFor !== null || queue.waiting.size() > 0 || !shares.hasMany(opener)) return;
  queue.gathersFor = opener.account;
  void sessionPorts.sleep(GATHER_ROWS_MS).then(() => {
    queue.gathersFor = null;
    // Without a slot the wait for one goes on.
    if (!queue.isFull || queue.waiting.size() === 0) serve(queue);
  });
};

const clearFull = ({ all }: HostQueues, provider: ProviderState): void => {
  for (const queue of all.values()) if (queue.provider === provider) queue.isFull = false;
};

type SchedulerParts = {
  readonly queues: HostQueues;
  readonly sessionPorts: SessionPorts;
  readonly waiting: ReturnType<typeof createWaitingProbes>;
  readonly shares: SessionShares;
};

/** Opens sessions in the order of turns. Returns the providers that lack nothing but a slot. */
const openSessions = (
  { sessionPorts, waiting, shares }: SchedulerParts,
  isEligible: (queue: HostQueue) => boolean,
  open: (queue: HostQueue, opener: Requester) => Promise<void>,
): ReadonlySet<ProviderState> => {
  const withoutSlot = new Set<ProviderState>();
  const isReady = (queue: HostQueue, opener: Requester): boolean => {
    if (!isEligible(queue) || !mayOpen(queue) || isGathering(queue, opener)) return false;
    const has = hasSlot(sessionPorts, queue);
    if (!has) withoutSlot.add(queue.provider);
    return has;
  };
  for (;;) {
    const next = waiting.next(shares.mayOpen, isReady);
    if (!next) return withoutSlot;
    void open(next.queue, next.requester);
  }
};

/** The result of a recipient that no mail server is asked about: a limit is reached, or all exits are refused. */
const findEarlyResult = (
  sessionPorts: SessionPorts,
  { slotKey }: HostQueue,
  one: PendingProbe,
): ProbeResult | null => {
  const { quota, breaker } = sessionPorts;
  const { requester, domain, hosts } = one;
  if (quota.isReached(requester.account, domain, hosts[0])) return createDailyLimitResult(one);
  const standing = breaker.findRefusal(toCircuitSubject(slotKey, one));
  if (!standing) return null;
  const result = toProbeResult(sessionPorts, toSharedOutcome(standing.refusal), one);
  return createRefusedResult(result, standing.isLasting);
};

const createWaitingResolver =
  ({ sessionPorts, waiting }: SchedulerParts, updateQueue: (queue: HostQueue) => void) =>
  (queue: HostQueue, result: CommonResult): void => {
    resolveAll(sessionPorts, queue, waiting.takeAll(queue), result);
    updateQueue(queue);
  };

/** `isRefusal`: the outcome is a reply about us. */
type CommonResult = {
  readonly outcome: SessionOutcome;
  readonly comeBack?: SlotReturn;
  readonly isRefusal?: boolean;
};

/** While the provider turns us away by this exit, nobody waits here: each recipient comes back when that is over. */
const findTurnedAway = (queue: HostQueue, now: Date): CommonResult | undefined => {
  const refusal = findStandingRefusal(queue.provider, now);
  if (!refusal) return undefined;
  const { outcome, untilMs } = refusal;
  if (untilMs === null) return { outcome };
  const { comeBack } = createReturn(queue, now, untilMs - now.getTime());
  return { outcome, comeBack, isRefusal: true };
};

/** Recipients that are given up, or come back: each gets what it would get if it came now, or the outcome for all. */
const resolveAll = (
  sessionPorts: SessionPorts,
  queue: HostQueue,
  recipients: readonly PendingProbe[],
  { outcome, comeBack, isRefusal = false }: CommonResult,
): void => {
  for (const one of recipients) {
    const early = findEarlyResult(sessionPorts, queue, one);
    const result = toProbeResult(sessionPorts, outcome, one);
    const reason = isRefusal && { reason: result.finding.reason };
    one.resolve(early ?? { ...result, ...(comeBack && { comeBack: { ...comeBack, ...reason } }) });
  }
};

/** A limit or a refusal may have come up while recipients waited: those get their results at once. */
const dropEarly = (
  sessionPorts: SessionPorts,
  queue: HostQueue,
  batch: readonly PendingProbe[],
): readonly PendingProbe[] =>
  batch.filter((one) => {
    const early = findEarlyResult(sessionPorts, queue, one);
    if (early) one.resolve(early);
    return !early;
  });

const countSession = (queue: HostQueue, by: 1 | -1, recipients: number): void => {
  queue.taken += by * recipients;
  queue.sessions += by;
  queue.host.sessions += by;
  queue.provider.sessions += by;
};

/** After a backoff one session finds out whether it is over. */
const mayOpen = ({ provider, slotKey, host }: HostQueue): boolean =>
  host.sessions < slotKey.slots.length &&
  provider.sessions < (provider.failures > 0 ? 1 : provider.connections) &&
  !provider.isBackingOff;

const hasSlot = ({ slots }: SessionPorts, { slotKey, isFull }: HostQueue): boolean =>
  !isFull && slots.mayAcquire(slotKey);

/**
 * Updates a host queue after it was served, and closes it when it is empty. Where a caller waits for a connection, a
 * session of a list ends early; but not for a caller whose account has used up its share of the sessions.
 */
const createQueueUpdater =
  (queues: HostQueues, shares: SessionShares) =>
  (queue: HostQueue): void => {
    const { provider, key, waiting } = queue;
    const isBusy = !provider.isBackingOff && !mayOpen(queue);
    const isCaller = (one: Requester) => one.priority === "caller" && shares.mayOpen(one);
    if (isBusy && waiting.requesters().some(isCaller)) provider.callerQueues.add(key);
    else provider.callerQueues.delete(key);
    if (waiting.size() === 0 && queue.sessions === 0 && queue.gathersFor === null)
      queues.close(queue);
  };

/** To open a session costs a server about as much as this many recipients. */
const RECIPIENTS_MIN = 5;

/** One session ends early for each queue where callers wait, but not before its own callers have their results. */
const createEarlyEnd = (provider: ProviderState, batch: readonly PendingProbe[]) => {
  const callers = batch.filter(({ requester }) => requester.priority === "caller").length;
  let isEnding = false;
  const shouldEnd = (tried: number): boolean => {
    if (tried < callers + RECIPIENTS_MIN || provider.callerQueues.size <= provider.yielding)
      return false;
    provider.yielding++;
    isEnding = true;
    return true;
  };
  return { shouldEnd, hasEnded: () => isEnding };
};

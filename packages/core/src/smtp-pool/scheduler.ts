import { answerEarly, type CommonResult, findTurnedAway, toComeBack } from "./answers.ts";
import { createCircuitBreaker } from "./circuit-breaker/circuit-breaker.ts";
import { limitHostConnections } from "./connect.ts";
import { NO_QUOTA } from "./daily-limits.ts";
import { createEgressHealth, createExits } from "./exits.ts";
import {
  createRowBudget,
  createSessionShares,
  type Requester,
  SOLE_REQUESTER,
} from "./fairness.ts";
import {
  adjustBatchSize,
  avoidPipelining,
  chooseHosts,
  chooseQueue,
  countSession,
  createHostQueues,
  createSlotRequest,
  decidePipelining,
  findOtherExit,
  GATHER_MS,
  GATHER_ROWS_MS,
  getBatchSize,
  HOLD_MS,
  type HostQueue,
  type HostQueues,
} from "./host-queues.ts";
import type { PendingProbe, Probe, ProbeResult } from "./probe.ts";
import { hasAllSessions } from "./process-rules.ts";
import { applyBackoff, createEarlyEnd, type ProviderUse, pauseForSlot } from "./providers.ts";
import { createReturn } from "./results.ts";
import { createRefusalBudgets, type ProbePorts, type SessionPorts } from "./session.ts";
import { type Decision, decide } from "./slots/decide.ts";
import { createLocalSlots } from "./slots/local-slots.ts";
import { runWithSlot, type SlotSessionSummary } from "./slots/run-with-slot.ts";
import { resumeTurn } from "./slots/slots.ts";
import { createWaitingProbes, listQueuesAt } from "./waiting-probes.ts";

// One recipient, from its question to its bill. An attempt (rows/attempt.ts) asks about the recipient. The probe of
// `createProbe` chooses one of the domain's mail hosts and an exit (`chooseHosts`, `chooseQueue`), and puts the recipient
// into the host queue of both. On each event (a recipient came, a session ended, a pause is over) `run` visits the host
// queues that the event concerns, in the order of turns, asks `decide` for the next action, and carries it out. `open` takes
// a batch from the queue. `runWithSlot` asks the circuit breaker for the exit and the slot pool for a slot, for which
// `decide` reads what all processes know of the provider. With exit and slot, `runSession` connects, sends the recipients
// and reads the replies. After the session the circuit learns from the replies, the pool releases the slot with the backoff
// that the server requested, and each recipient with a result gets it. Recipients that the session did not reach return to
// their queue. `answerEarly` gives a recipient without a session a result as well: the refusal that it would meet, or the
// time and the ticket for its return. The attempt turns the result into a verdict or a later attempt. The account pays for a
// verdict, but not where its reason is a cause of ours (verify/unpaid-results.ts).

export const createProbe = (ports: ProbePorts): Probe => {
  const {
    slots = createLocalSlots(ports),
    quota = NO_QUOTA,
    breaker = createCircuitBreaker({ now: ports.now, sleep: ports.sleep }),
  } = ports;
  const sessionPorts: SessionPorts = {
    ...ports,
    connect: limitHostConnections(ports.connect, ports.sleep),
    slots,
    breaker,
    quota,
    egress: createEgressHealth(),
    refusalBudgets: createRefusalBudgets(),
    exits: createExits({ ...ports, breaker }),
  };
  const pool = createPool(sessionPorts);
  const { queues, waiting } = pool;
  const { sleep, now } = sessionPorts;
  const ask: Probe = (question) =>
    new Promise((resolve) => {
      const { hostsKey, hosts } = chooseHosts(question.hosts, queues);
      const { requester = SOLE_REQUESTER, waitMs } = question;
      // Rows of lists have no deadline, so they need no AbortController.
      const deadline = waitMs === undefined ? undefined : new AbortController();
      const resolveInTime = (result: ProbeResult): void => {
        deadline?.abort("answered");
        resolve(result);
      };
      const own = { requester, unknownRecipients: [], hosts, resolve: resolveInTime };
      const waitsSinceMs = now().getTime();
      const fresh = { failures: 0, isExpired: false, refusedExits: [], leftExits: [] };
      const one = { fallbacks: [], ...question, ...own, ...fresh, waitsSinceMs };
      const queue = chooseQueue(queues, one, { hostsKey, hosts });
      const isFirst = !queue.waiting.has(requester);
      resumeTurn(queue, queue.slotKey, question.ticket);
      const common = findTurnedAway(queue, now());
      if (answerEarly(sessionPorts, queue, one, { common }) !== "answered") {
        waiting.join(queue, one);
        const drop = () => waiting.drop(one, (left) => updateQueue(pool, left));
        if (waitMs !== undefined) void sleep(waitMs, deadline?.signal).then(drop);
      }
      // Recipients that arrive in the same tick share the session.
      if (isFirst) void sleep(0).then(() => serve(pool, queue));
    });
  const { warmUp } = ports;
  return warmUp ? (question) => warmUp.ready().then(() => ask(question)) : ask;
};

/** The recipients, sessions and answers of one process. */
type Pool = {
  readonly queues: HostQueues;
  readonly sessionPorts: SessionPorts;
  readonly shares: ReturnType<typeof createSessionShares>;
  readonly budget: ReturnType<typeof createRowBudget>;
  readonly waiting: ReturnType<typeof createWaitingProbes>;
};

const createPool = (sessionPorts: SessionPorts): Pool => ({
  queues: createHostQueues(sessionPorts.exits, sessionPorts.random),
  sessionPorts,
  shares: createSessionShares(sessionPorts.sessionsMax),
  budget: createRowBudget(sessionPorts.hasTime),
  waiting: createWaitingProbes((queue, one) => {
    const comeBack = createReturn(queue, sessionPorts.now(), 0);
    answerEarly(sessionPorts, queue, one, { common: toComeBack(queue, comeBack) });
  }),
});

/** A requester whose turn has come, with its host queue. */
type Turn = { readonly queue: HostQueue; readonly opener: Requester };

/** Opens sessions for the queues that an event concerns until each of them has to wait. */
const run = (pool: Pool, listTurns: () => Iterable<Turn>): void => {
  const withoutSlot = new Set<ProviderUse>();
  const findNext = (): Turn | undefined => {
    for (const turn of listTurns()) {
      const { kind } = decideTurn(pool, turn);
      if (kind === "pause") withoutSlot.add(turn.queue.provider);
      if (kind === "ask") return turn;
    }
    return undefined;
  };
  for (let next = findNext(); next; next = findNext()) void open(pool, next);
  for (const provider of withoutSlot) waitForSlot(pool, provider);
};

const decideTurn = (pool: Pool, { queue, opener }: Turn): Decision => {
  const { sessionPorts, waiting, budget } = pool;
  const recipients = queue.waiting.size();
  const isLong = waiting.isLong(queue, opener);
  const batchSize = getBatchSize(queue, opener, isLong);
  const isHeld = isLong && recipients < batchSize && budget.isSpent();
  if (isHeld) hold(pool);
  const mayAcquire = sessionPorts.slots.mayAcquire(queue.slotKey);
  return decide({ queue: { ...queue, opener, recipients, batchSize, isHeld, mayAcquire } }, null);
};

/** Lets rows that waited for the thread continue, beginning at the hosts where they have waited longest. */
const hold = (pool: Pool): void => {
  const { budget, sessionPorts, waiting } = pool;
  if (budget.isWaiting) return;
  budget.isWaiting = true;
  void sessionPorts.sleep(HOLD_MS).then(() => {
    budget.isWaiting = false;
    budget.tick();
    run(pool, function* () {
      for (const turn of waiting.listTurns((requester) => mayOpen(pool, requester))) {
        if (budget.isSpent()) return hold(pool);
        yield turn;
      }
    });
  });
};

/** True when the account may open a session. Otherwise its turn comes after the next end of a session. */
const mayOpen = ({ shares }: Pool, requester: Requester): boolean => {
  const isOpen = decide({ account: shares.count(requester) }, null).kind === "ask";
  if (!isOpen) shares.markShort();
  return isOpen;
};

const serve = (pool: Pool, queue: HostQueue): void => {
  run(pool, function* () {
    for (const opener of queue.waiting.requesters())
      if (mayOpen(pool, opener)) yield { queue, opener };
  });
  updateQueue(pool, queue);
};

/** Gives the freed session to a queue of the same provider, or with `any` to a queue of any provider. */
const serveOthers = (
  pool: Pool,
  provider: ProviderUse,
  { any = false, afresh = false }: { readonly any?: boolean; readonly afresh?: boolean },
): void => {
  const own = listQueuesAt(pool.queues, provider);
  if (afresh) for (const queue of own) queue.isFull = false;
  if (!any && own.length === 0) return;
  // Most providers have one queue, so this reads one queue instead of thousands.
  const only = !any && own.length === 1 ? own[0] : undefined;
  run(pool, function* () {
    for (const turn of pool.waiting.listTurns((requester) => mayOpen(pool, requester), only))
      if (any || turn.queue.provider === provider) yield turn;
  });
};

/** Opens sessions again after the provider's pause. */
const resume = (pool: Pool, provider: ProviderUse): void => {
  serveOthers(pool, provider, { afresh: true });
  pool.queues.forget(provider);
};

const open = async (pool: Pool, { queue, opener }: Turn): Promise<void> => {
  const { sessionPorts, shares, waiting } = pool;
  const { provider } = queue;
  const batch = admit(pool, queue, waiting.take(queue, opener));
  if (batch.length === 0) return updateQueue(pool, queue);
  pool.budget.spend(batch.length);
  countSession(queue, 1, batch.length);
  gather(pool, queue);
  shares.open(opener);
  updateQueue(pool, queue);
  const { shouldEnd, hasEnded } = createEarlyEnd(provider, batch);
  const session = { ...sessionPorts, shouldEnd, pipelining: decidePipelining(queue) };
  const mayLeave = batch.some((one) => findOtherExit(pool.queues, one, queue) !== null);
  const request = createSlotRequest(queue, opener, batch.length, mayLeave);
  const summary = await runWithSlot(session, queue.slotKey, batch, request);
  const isShort = shares.close(opener);
  countSession(queue, -1, batch.length);
  // Recipients that found no slot leave, unless they have a turn in the wait queue.
  const isLeaving = summary.isFull && mayLeave && !queue.turn.ticket;
  const staying = moveOn(pool, queue, summary.remaining, () => isLeaving);
  waiting.putBack(queue, staying);
  if (summary.lostFlight) avoidPipelining(queue);
  if (hasEnded()) provider.yielding--;
  else adjustBatchSize(queue, batch.length, summary.remaining.length);
  queue.isFull = summary.isFull;
  if (summary.comeBack) resolveWaiting(pool, queue, toComeBack(queue, summary.comeBack));
  else if (summary.isFull) waitForSlot(pool, provider, summary.pauseMs);
  else learn(pool, provider, summary);
  serveOthers(pool, provider, { any: isShort, afresh: !summary.isFull });
  gatherRows(pool, queue, opener);
  updateQueue(pool, queue);
};

/** Checks limits and refusals that arose while recipients waited: those recipients get a result or another exit. */
const admit = (
  pool: Pool,
  queue: HostQueue,
  taken: readonly PendingProbe[],
): readonly PendingProbe[] => {
  const { sessionPorts } = pool;
  const leaving = new Set<PendingProbe>();
  const kept = taken.filter((one) => {
    const isExitClosed = sessionPorts.exits.isClosedTo(queue.slotKey, one);
    const end = answerEarly(sessionPorts, queue, one, { isExitClosed });
    if (end === "leave") leaving.add(one);
    return end !== "answered";
  });
  return moveOn(pool, queue, kept, (one) => leaving.has(one));
};

/** Moves these recipients to another exit. Returns the recipients without another exit. */
const moveOn = (
  pool: Pool,
  queue: HostQueue,
  recipients: readonly PendingProbe[],
  isLeaving: (one: PendingProbe) => boolean,
): readonly PendingProbe[] => {
  const others = new Set<HostQueue>();
  const staying = recipients.filter((one) => {
    const exit = isLeaving(one) ? findOtherExit(pool.queues, one, queue) : null;
    if (exit === null) return true;
    const other = pool.queues.getOrAddQueue(queue.hostsKey, one.hosts[0], exit);
    one.leftExits = [...one.leftExits, queue.slotKey.exit];
    pool.waiting.join(other, one);
    others.add(other);
    return false;
  });
  for (const other of others) serve(pool, other);
  return staying;
};

/** Call when a backoff begins at this provider and exit: the recipients there move to other exits. */
const moveWaiting = (pool: Pool, provider: ProviderUse): void => {
  const { queues, waiting } = pool;
  if (queues.exits.all.length === 1) return;
  for (const queue of listQueuesAt(queues, provider)) {
    waiting.putBack(
      queue,
      moveOn(pool, queue, waiting.takeAll(queue), () => true),
    );
    updateQueue(pool, queue);
  }
};

const learn = (pool: Pool, provider: ProviderUse, { backoff }: SlotSessionSummary): void => {
  const { sessionPorts, queues } = pool;
  provider.fullSinceMs = null;
  if (backoff) applyBackoff(provider, backoff, sessionPorts, () => resume(pool, provider));
  if (provider.isBackingOff) moveWaiting(pool, provider);
  for (const queue of listQueuesAt(queues, provider)) {
    const turnedAway = findTurnedAway(queue, sessionPorts.now());
    if (turnedAway) resolveWaiting(pool, queue, turnedAway);
  }
};

const waitForSlot = (pool: Pool, provider: ProviderUse, pauseMs?: number): void => {
  const { sessionPorts, queues } = pool;
  if (pauseForSlot(provider, sessionPorts, () => resume(pool, provider), pauseMs)) return;
  for (const queue of listQueuesAt(queues, provider))
    resolveWaiting(pool, queue, toComeBack(queue, createReturn(queue, sessionPorts.now())));
};

const resolveWaiting = (pool: Pool, queue: HostQueue, common: CommonResult): void => {
  for (const one of pool.waiting.takeAll(queue))
    answerEarly(pool.sessionPorts, queue, one, { common });
  updateQueue(pool, queue);
};

/** After the begin of a session, recipients that arrive within `GATHER_MS` share the queue's next session. */
const gather = (pool: Pool, queue: HostQueue): void => {
  if (queue.hasJustOpened) return;
  queue.hasJustOpened = true;
  void pool.sessionPorts.sleep(GATHER_MS).then(() => {
    queue.hasJustOpened = false;
    // Without an open session nothing was gathered; without a slot the wait for one continues.
    if (queue.sessions > 0 && !queue.isFull) serve(pool, queue);
  });
};

/** After the end of a session, rows of a large list that arrive within `GATHER_ROWS_MS` share the next session. */
const gatherRows = (pool: Pool, queue: HostQueue, opener: Requester): void => {
  const { shares, sessionPorts } = pool;
  if (queue.gathersFor !== null || queue.waiting.size() > 0 || !shares.hasMany(opener)) return;
  queue.gathersFor = opener.account;
  void sessionPorts.sleep(GATHER_ROWS_MS).then(() => {
    queue.gathersFor = null;
    // Without a slot the wait for one continues.
    if (!queue.isFull || queue.waiting.size() === 0) serve(pool, queue);
  });
};

/**
 * Updates a host queue after it was served, and closes it when it is empty. Where a caller waits for a connection, a
 * session of a list ends early; but not for a caller whose account has used up its share of the sessions.
 */
const updateQueue = (pool: Pool, queue: HostQueue): void => {
  const { provider, key, waiting } = queue;
  const isBusy = !provider.isBackingOff && hasAllSessions(queue);
  const isCaller = (one: Requester) => one.priority === "caller" && mayOpen(pool, one);
  if (isBusy && waiting.requesters().some(isCaller)) provider.callerQueues.add(key);
  else provider.callerQueues.delete(key);
  if (waiting.size() === 0 && queue.sessions === 0 && queue.gathersFor === null)
    pool.queues.close(queue);
};

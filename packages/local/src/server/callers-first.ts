import { createAccountRotation } from "@mailproof/core/smtp-pool/fair-queue";
import type { Requester, YieldToCallers } from "@mailproof/core/smtp-pool/requester";

/**
 * The time that lists get in each turn of the event loop while a caller is here. A step is about 0.1 ms of work. Shorter
 * slices cost lists more than they help callers.
 */
export const SLICE_MS = 0.5;
/**
 * While a request is in progress, lists get such a slice only until they have had this share of the time; then one step of
 * each turn. A verification takes ten turns, so slices alone make it 5 ms longer, and single steps 1 ms. Beside many
 * callers turns are long, and with single steps alone the sessions of lists would stand still.
 */
export const LIST_SHARE = 0.2;
/**
 * The share holds over so long: what lists did not use earlier is lost, and what they used beyond it is forgotten. What they
 * use between two requests counts, too.
 */
export const LIST_SHARE_SPAN_MS = 250;
/** A batch needs about 1 ms for each of its rows. In the slices of a file it would wait as long as a file's rows do. */
export const SHORT_LIST_SLICE_MS = 2;
export const SHORT_LIST_MS = 100;
/** Half of the time that an account has used is forgotten after so long, and so on. */
export const HALF_FORGOTTEN_MS = 1_000;
/** Callers send one request after the other. After a pause longer than this, lists work at full speed. */
export const LINGER_MS = 200;

type Step = { readonly requester: Requester; readonly begin: () => void };

/** `nextTurn`: runs the work in the next turn of the event loop. */
type Loop = { readonly nowMs: () => number; readonly nextTurn: (work: () => void) => void };

const eventLoop: Loop = {
  nowMs: () => performance.now(),
  nextTurn: (work) => void setImmediate(work),
};

/** In this turn, after all promise callbacks: a step has ended when no callback is left that can run at once. */
const afterMicrotasks = (work: () => void): void => queueMicrotask(() => process.nextTick(work));

/**
 * The steps that wait. Those of sessions are first: each session holds one of a mail host's few connections, and callers
 * and short lists of other accounts wait for it. Next is the account whose steps took the least time lately: a short list
 * does not wait for a long one, and a step of an export, which takes as long as 30 others, counts like 30. Equal accounts
 * take turns.
 */
const createSteps = (nowMs: () => number) => {
  const sessions = createAccountRotation<Step>();
  const others = createAccountRotation<Step>();
  const usedMs = new Map<string, number>();
  let forgetsAtMs = nowMs() + HALF_FORGOTTEN_MS;

  const forget = (): void => {
    if (nowMs() < forgetsAtMs) return;
    forgetsAtMs = nowMs() + HALF_FORGOTTEN_MS;
    for (const [account, ms] of usedMs)
      if (ms < 1) usedMs.delete(account);
      else usedMs.set(account, ms / 2);
  };

  const getUsedMs = (account: string): number => usedMs.get(account) ?? 0;

  const findLeastUsed = (accounts: Iterable<string>): string | undefined => {
    let least: string | undefined;
    for (const account of accounts)
      if (least === undefined || getUsedMs(account) < getUsedMs(least)) least = account;
    return least;
  };

  return {
    push: (step: Step, kind: "session" | undefined): void =>
      (kind === "session" ? sessions : others).push(step),
    findNext: () => findLeastUsed(sessions.accounts()) ?? findLeastUsed(others.accounts()),
    take: (account: string): Step | undefined =>
      sessions.takeOf(account)[0] ?? others.takeOf(account)[0],
    addUsedMs: (account: string, ms: number): void => {
      forget();
      usedMs.set(account, getUsedMs(account) + ms);
    },
    isShortList: (account: string): boolean => getUsedMs(account) < SHORT_LIST_MS,
  };
};

/** The share of the time that belongs to lists while a request is in progress. */
const createListShare = (nowMs: () => number) => {
  const mostMs = LIST_SHARE * LIST_SHARE_SPAN_MS;
  let leftMs = mostMs;
  let countedAtMs = nowMs();
  return {
    isLeft: (): boolean => {
      const now = nowMs();
      leftMs = Math.min(mostMs, leftMs + LIST_SHARE * (now - countedAtMs));
      countedAtMs = now;
      return leftMs > 0;
    },
    use: (ms: number): void => void (leftMs = Math.max(-mostMs, leftMs - ms)),
  };
};

/** During requests, lists begin their steps in slices, one per turn of the event loop. */
export const createCallersFirst = ({ nowMs, nextTurn }: Loop = eventLoop) => {
  const steps = createSteps(nowMs);
  const share = createListShare(nowMs);
  let callers = 0;
  let lastLeftMs = Number.NEGATIVE_INFINITY;
  let isUnderWay = false;

  const runSlice = (): void => {
    const beganMs = nowMs();
    const isShareLeft = share.isLeft();
    const sliceMs = callers === 0 || isShareLeft ? SLICE_MS : 0;
    const getSliceMs = (account: string): number =>
      steps.isShortList(account) ? SHORT_LIST_SLICE_MS : sliceMs;
    const runStep = (account: string): void => {
      const stepBeganMs = nowMs();
      steps.take(account)?.begin();
      afterMicrotasks(() => {
        const usedMs = nowMs() - stepBeganMs;
        steps.addUsedMs(account, usedMs);
        share.use(usedMs);
        goOn((next) => nowMs() < beganMs + getSliceMs(next));
      });
    };
    const goOn = (hasTime: (account: string) => boolean): void => {
      const next = steps.findNext();
      if (next === undefined) isUnderWay = false;
      else if (hasTime(next)) runStep(next);
      else nextTurn(runSlice);
    };
    // The first step of a slice always runs, however late: lists continue beside endless requests.
    goOn(() => true);
  };

  const yieldToCallers: YieldToCallers = (requester, kind) => {
    const isCallerHere = callers > 0 || nowMs() - lastLeftMs < LINGER_MS;
    if (requester?.priority !== "list" || !isCallerHere) return undefined;
    return new Promise((begin) => {
      steps.push({ requester, begin }, kind);
      if (isUnderWay) return;
      isUnderWay = true;
      nextTurn(runSlice);
    });
  };

  /** Called when a request arrives. The returned function is called once, when its response is known. */
  const enter = () => {
    callers++;
    return (): void => {
      callers--;
      lastLeftMs = nowMs();
    };
  };

  return { enter, yieldToCallers };
};

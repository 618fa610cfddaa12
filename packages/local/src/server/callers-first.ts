import type { Requester, YieldToCallers } from "@mailproof/core/smtp-pool/fairness";
import { createAccountRotation } from "@mailproof/core/smtp-pool/fairness";

/**
 * The time that lists get in each turn of the event loop while a caller is here. A step is about 0.1 ms of work. Shorter
 * slices cost lists more than they help callers.
 */
const SLICE_MS = 0.5;
/**
 * A batch needs about 1 ms per row: with the slices of a file, a batch would wait as long as a file. Steps whose caller has
 * left get long slices, too.
 */
const LONG_SLICE_MS = 2;
const SHORT_LIST_MS = 100;
/** The half-life of the time that an account has used. */
const HALF_FORGOTTEN_MS = 1_000;

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
 * The steps that wait. Next is the account whose steps took the least time lately: a short list does not wait for a long
 * one, and a step of an export, which takes as long as 30 others, counts like 30. Equal accounts take turns.
 */
const createSteps = (nowMs: () => number) => {
  const waiting = createAccountRotation<Step>();
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
    push: waiting.push,
    findNext: () => findLeastUsed(waiting.accounts()),
    take: (account: string): Step | undefined => waiting.takeOf(account)[0],
    addUsedMs: (account: string, ms: number): void => {
      forget();
      usedMs.set(account, getUsedMs(account) + ms);
    },
    isShortList: (account: string): boolean => getUsedMs(account) < SHORT_LIST_MS,
  };
};

/** While requests are in progress, lists start their steps in slices, one slice per turn of the event loop. */
export const createCallersFirst = ({ nowMs, nextTurn }: Loop = eventLoop) => {
  const steps = createSteps(nowMs);
  let callers = 0;
  let isUnderWay = false;

  const runSlice = (): void => {
    const beganMs = nowMs();
    const getSliceMs = (account: string): number =>
      callers === 0 || steps.isShortList(account) ? LONG_SLICE_MS : SLICE_MS;
    const runStep = (account: string): void => {
      const stepBeganMs = nowMs();
      steps.take(account)?.begin();
      afterMicrotasks(() => {
        steps.addUsedMs(account, nowMs() - stepBeganMs);
        goOn((next) => nowMs() < beganMs + getSliceMs(next));
      });
    };
    const goOn = (hasTime: (account: string) => boolean): void => {
      const next = steps.findNext();
      if (next === undefined) isUnderWay = false;
      else if (hasTime(next)) runStep(next);
      else nextTurn(runSlice);
    };
    // The first step of a slice always runs, however late: lists continue even during endless requests.
    goOn(() => true);
  };

  const yieldToCallers: YieldToCallers = (requester) => {
    if (requester?.priority !== "list" || callers === 0) return undefined;
    return new Promise((begin) => {
      steps.push({ requester, begin });
      if (isUnderWay) return;
      isUnderWay = true;
      nextTurn(runSlice);
    });
  };

  /** Called when a request arrives. The returned function is called once, when its response is known. */
  const enter = () => {
    callers++;
    return (): void => void callers--;
  };

  return { enter, yieldToCallers, countCallers: () => callers };
};

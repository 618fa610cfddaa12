import { createAccountRotation } from "@mailproof/core/smtp-pool/fair-queue";
import type { Requester, YieldToCallers } from "@mailproof/core/smtp-pool/requester";

/**
 * The time that lists get in each turn of the event loop while a request is in progress. A verification takes ten
 * turns, so it takes 5 ms longer. A step is about 0.1 ms of work. Shorter slices cost lists more than they help callers.
 */
export const SLICE_MS = 0.5;
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

/** During requests, lists begin their steps in slices, one per turn of the event loop. Accounts take turns. */
export const createCallersFirst = ({ nowMs, nextTurn }: Loop = eventLoop) => {
  const steps = createAccountRotation<Step>();
  let callers = 0;
  let lastLeftMs = Number.NEGATIVE_INFINITY;
  let isUnderWay = false;

  const runSlice = (): void => {
    const endMs = nowMs() + SLICE_MS;
    const runStep = (): void => {
      // The first step of a slice always runs, however late: lists continue beside endless requests.
      steps.takeInTurns(1)[0]?.begin();
      afterMicrotasks(() => {
        if (steps.size() === 0) isUnderWay = false;
        else if (nowMs() < endMs) runStep();
        else nextTurn(runSlice);
      });
    };
    runStep();
  };

  const yieldToCallers: YieldToCallers = (requester) => {
    const isCallerHere = callers > 0 || nowMs() - lastLeftMs < LINGER_MS;
    if (requester?.priority !== "list" || !isCallerHere) return undefined;
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
    return (): void => {
      callers--;
      lastLeftMs = nowMs();
    };
  };

  /** For a request that waits for something: meanwhile lists need not yield to it. */
  const pause = () => {
    callers--;
    return (): void => {
      callers++;
    };
  };

  return { enter, pause, yieldToCallers };
};

import { CLOCK_SKEW_MS } from "@mailproof/core/moments";
import {
  DELAY_SECONDS_MAX,
  deadLettersOf,
  isOfDeadLetters,
  type Queue,
  RECEIVE_MAX,
  type Receiving,
  travelForm,
} from "@mailproof/core/queue";
import type { Json } from "@mailproof/core/table";

type Kept = {
  queue: string;
  readonly json: string;
  visibleAt: number;
  receives: number;
  receipt: string | undefined;
};

/** Never waits: in a simulation somebody else moves the clock. */
export const memoryQueue = (now: () => Date): Queue & Receiving & { pending: () => number } => {
  const ms = () => now().getTime();
  let kept: Kept[] = [];
  let receipts = 0;
  const held = (receipt: string) => kept.find((one) => one.receipt === receipt);

  return {
    pending: () => kept.length,

    sendMany: async (queue, messages) => {
      const arrived = messages.map((message) => ({
        queue,
        json: travelForm(message),
        visibleAt: ms() + (message.delaySeconds ?? 0) * 1000,
        receives: 0,
        receipt: undefined,
      }));
      kept.push(...arrived);
      return messages.map(() => "sent");
    },

    countDead: async () => kept.filter(({ queue }) => isOfDeadLetters(queue)).length,

    receive: async (facts, { max = RECEIVE_MAX }) => {
      const { name, visibilitySeconds, receivesMax } = facts;
      const latest = ms() + Math.max(DELAY_SECONDS_MAX, visibilitySeconds) * 1000 + CLOCK_SKEW_MS;
      const visible = kept.filter(
        (one) => one.queue === name && (one.visibleAt <= ms() || one.visibleAt > latest),
      );
      for (const one of visible.filter(({ receives }) => receives >= receivesMax))
        Object.assign(one, { queue: deadLettersOf(facts).name, receives: 0, receipt: undefined });
      const handedOut = visible
        .filter(({ queue }) => queue === name)
        .slice(0, Math.min(max, RECEIVE_MAX));
      return handedOut.map((one) => {
        one.visibleAt = ms() + visibilitySeconds * 1000;
        one.receives++;
        one.receipt = `receipt_${++receipts}`;
        const body = JSON.parse(one.json) as Json;
        return { receipt: one.receipt, body, receiveCount: one.receives };
      });
    },

    done: async (receipt) => {
      const one = held(receipt);
      kept = kept.filter((other) => other !== one);
      return one !== undefined;
    },

    release: async (receipt, delaySeconds) => {
      const one = held(receipt);
      if (one) Object.assign(one, { visibleAt: ms() + delaySeconds * 1000, receipt: undefined });
      return one !== undefined;
    },
  };
};

import { CLOCK_SKEW_MS } from "@mailproof/core/lib/time";
import {
  createFairShares,
  DELAY_SECONDS_MAX,
  isDeadLetterQueue,
  type Queue,
  type QueueReceiver,
  RECEIVE_MAX,
  type ReceivedMessage,
  serializeMessage,
  toDeadLetterQueue,
} from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";

type StoredMessage = {
  queue: string;
  readonly json: string;
  readonly group: string;
  readonly weight: number;
  readonly order: number;
  readonly isLowPriority: boolean;
  visibleAt: number;
  receives: number;
  receipt: string | undefined;
};

/** The first of those that none comes before. */
const least = (
  all: readonly StoredMessage[],
  compare: (a: StoredMessage, b: StoredMessage) => number,
): StoredMessage | undefined =>
  all.reduce<StoredMessage | undefined>(
    (found, one) => (found && compare(found, one) <= 0 ? found : one),
    undefined,
  );

/** Never waits: in a simulation the run moves the clock. */
export const memoryQueue = (now: () => Date): Queue & QueueReceiver & { pending: () => number } => {
  const ms = () => now().getTime();
  let stored: StoredMessage[] = [];
  let receipts = 0;
  let turns = 0;
  /** The last turn of each group, by queue and group. */
  const lastTurns = new Map<string, number>();
  const heldBack = (receipt: string) => stored.find((one) => one.receipt === receipt);

  return {
    pending: () => stored.length,

    sendMany: async (queue, messages) => {
      const arrived = messages.map((message) => ({
        queue,
        json: serializeMessage(message),
        group: message.group ?? "",
        weight: message.weight ?? 1,
        order: message.order ?? 0,
        isLowPriority: message.isLowPriority ?? false,
        visibleAt: ms() + (message.delaySeconds ?? 0) * 1000,
        receives: 0,
        receipt: undefined,
      }));
      stored.push(...arrived);
      return messages.map(() => "sent");
    },

    countDeadLetters: async () => stored.filter(({ queue }) => isDeadLetterQueue(queue)).length,

    receive: async (spec, { max = RECEIVE_MAX, inFlight: inHand }) => {
      const { name, visibilitySeconds, receivesMax } = spec;
      const latest = ms() + Math.max(DELAY_SECONDS_MAX, visibilitySeconds) * 1000 + CLOCK_SKEW_MS;
      const visible = stored.filter(
        (one) => one.queue === name && (one.visibleAt <= ms() || one.visibleAt > latest),
      );
      for (const one of visible.filter(({ receives }) => receives >= receivesMax))
        Object.assign(one, {
          queue: toDeadLetterQueue(spec).name,
          receives: 0,
          receipt: undefined,
        });
      const toTurn = ({ group }: StoredMessage) => lastTurns.get(`${name} ${group}`) ?? 0;
      const shares = inHand && createFairShares(spec, inHand);
      const waiting = new Set(visible.filter(({ queue }) => queue === name));
      const received: ReceivedMessage[] = [];
      for (let weight = 0; weight < max && received.length < RECEIVE_MAX; ) {
        const one = least(
          [...waiting].filter(({ group }) => !shares?.isFull(group)),
          (a, b) => {
            const byTurn =
              Number(a.isLowPriority) - Number(b.isLowPriority) || toTurn(a) - toTurn(b);
            return byTurn || a.order - b.order;
          },
        );
        if (!one) break;
        waiting.delete(one);
        lastTurns.set(`${name} ${one.group}`, ++turns);
        one.visibleAt = ms() + visibilitySeconds * 1000;
        one.receives++;
        one.receipt = `receipt_${++receipts}`;
        weight += one.weight;
        shares?.add(one.group, one.weight);
        const body = JSON.parse(one.json) as Json;
        const { receipt, receives: receiveCount, group } = one;
        received.push({ receipt, body, receiveCount, group, weight: one.weight });
      }
      return received;
    },

    acknowledge: async (receipt) => {
      const one = heldBack(receipt);
      stored = stored.filter((other) => other !== one);
      return one !== undefined;
    },

    requeue: async (receipt, delaySeconds) => {
      const one = heldBack(receipt);
      if (one) Object.assign(one, { visibleAt: ms() + delaySeconds * 1000, receipt: undefined });
      return one !== undefined;
    },
  };
};

import { CLOCK_SKEW_MS } from "@mailproof/core/moments";
import {
  DELAY_SECONDS_MAX,
  deadLettersOf,
  isOfDeadLetters,
  type Queue,
  RECEIVE_MAX,
  type Received,
  type Receiving,
  sharesOf,
  travelForm,
} from "@mailproof/core/queue";
import type { Json } from "@mailproof/core/table";

type Kept = {
  queue: string;
  readonly json: string;
  readonly group: string;
  readonly weight: number;
  readonly order: number;
  readonly isLast: boolean;
  visibleAt: number;
  receives: number;
  receipt: string | undefined;
};

/** The first of those that none comes before. */
const least = (all: readonly Kept[], compare: (a: Kept, b: Kept) => number): Kept | undefined =>
  all.reduce<Kept | undefined>(
    (found, one) => (found && compare(found, one) <= 0 ? found : one),
    undefined,
  );

/** Never waits: in a simulation somebody else moves the clock. */
export const memoryQueue = (now: () => Date): Queue & Receiving & { pending: () => number } => {
  const ms = () => now().getTime();
  let kept: Kept[] = [];
  let receipts = 0;
  let turns = 0;
  /** The last turn of each group, by queue and group. */
  const hadTurn = new Map<string, number>();
  const held = (receipt: string) => kept.find((one) => one.receipt === receipt);

  return {
    pending: () => kept.length,

    sendMany: async (queue, messages) => {
      const arrived = messages.map((message) => ({
        queue,
        json: travelForm(message),
        group: message.group ?? "",
        weight: message.weight ?? 1,
        order: message.order ?? 0,
        isLast: message.isLast ?? false,
        visibleAt: ms() + (message.delaySeconds ?? 0) * 1000,
        receives: 0,
        receipt: undefined,
      }));
      kept.push(...arrived);
      return messages.map(() => "sent");
    },

    countDead: async () => kept.filter(({ queue }) => isOfDeadLetters(queue)).length,

    receive: async (facts, { max = RECEIVE_MAX, inHand }) => {
      const { name, visibilitySeconds, receivesMax } = facts;
      const latest = ms() + Math.max(DELAY_SECONDS_MAX, visibilitySeconds) * 1000 + CLOCK_SKEW_MS;
      const visible = kept.filter(
        (one) => one.queue === name && (one.visibleAt <= ms() || one.visibleAt > latest),
      );
      for (const one of visible.filter(({ receives }) => receives >= receivesMax))
        Object.assign(one, { queue: deadLettersOf(facts).name, receives: 0, receipt: undefined });
      const turnOf = ({ group }: Kept) => hadTurn.get(`${name} ${group}`) ?? 0;
      const shares = inHand && sharesOf(facts, inHand);
      const waiting = new Set(visible.filter(({ queue }) => queue === name));
      const received: Received[] = [];
      for (let weight = 0; weight < max && received.length < RECEIVE_MAX; ) {
        const one = least(
          [...waiting].filter(({ group }) => !shares?.isFull(group)),
          (a, b) => {
            const byTurn = Number(a.isLast) - Number(b.isLast) || turnOf(a) - turnOf(b);
            return byTurn || a.order - b.order;
          },
        );
        if (!one) break;
        waiting.delete(one);
        hadTurn.set(`${name} ${one.group}`, ++turns);
        one.visibleAt = ms() + visibilitySeconds * 1000;
        one.receives++;
        one.receipt = `receipt_${++receipts}`;
        weight += one.weight;
        shares?.take(one.group, one.weight);
        const body = JSON.parse(one.json) as Json;
        const { receipt, receives: receiveCount, group } = one;
        received.push({ receipt, body, receiveCount, group, weight: one.weight });
      }
      return received;
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

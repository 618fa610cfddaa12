import type { SlotKey, SlotPool, SlotResult } from "@mailproof/core/smtp-pool/slots/slots";
import { type Calls, ENDED } from "./calls.ts";

// The slots of all engine threads, counted by the main thread. Nearly all sessions of a provider are on one thread; only
// those at the second host of a domain, or of one whose hosts are several providers', may be on another.

const FULL_PAUSE_MS = 100;

/** The provider's slot that a thread has. */
type TakenSlot = { readonly providerKey: string; readonly slot: number };

export const createSlotCounts = () => {
  const taken = new Map<string, Map<number, object>>();

  const release = (thread: object, { providerKey, slot }: TakenSlot): void => {
    const slots = taken.get(providerKey);
    if (slots?.get(slot) !== thread) return;
    slots.delete(slot);
    if (slots.size === 0) taken.delete(providerKey);
  };

  return {
    /** Null: no slot is free. */
    acquire: (thread: object, { providerKey, slots }: SlotKey): TakenSlot | null => {
      const own = taken.get(providerKey) ?? new Map<number, object>();
      const slot = slots.find((one) => !own.has(one));
      if (slot === undefined) return null;
      own.set(slot, thread);
      taken.set(providerKey, own);
      return { providerKey, slot };
    },
    release,
    /** The sessions of a thread that ended have ended. */
    releaseAll: (thread: object): void => {
      for (const [providerKey, slots] of taken)
        for (const slot of slots.keys()) release(thread, { providerKey, slot });
    },
  };
};

export type SlotCounts = ReturnType<typeof createSlotCounts>;
export type SlotHandlers = ReturnType<typeof createSlotHandlers>;

/** On the main thread, for one engine thread. */
export const createSlotHandlers = (counts: SlotCounts, thread: object) => ({
  acquireSlot: (slotKey: SlotKey) => counts.acquire(thread, slotKey),
  releaseSlot: (slot: TakenSlot) => counts.release(thread, slot),
});

/** On an engine thread. */
export const createRemoteSlots = ({ call }: Calls<SlotHandlers>): SlotPool => ({
  mayAcquire: () => true,
  acquire: async (slotKey): Promise<SlotResult> => {
    const slot = await call("acquireSlot", slotKey);
    if (slot === null || slot === ENDED) return { kind: "full", pauseMs: FULL_PAUSE_MS };
    const release = async () => {
      await call("releaseSlot", slot);
      return null;
    };
    return { kind: "acquired", slot: { release } };
  },
});

import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import type { World } from "../../ports/world.ts";
import { closeAfter } from "./end-session.ts";
import { type Closing, getBackoff, isBackingOff, RETENTION_SECONDS } from "./provider-state.ts";
import type { ProviderBackoff, SessionEnd, SlotKey, SlotPool } from "./slots.ts";

/** The number of provider and exit pairs that the process remembers; a forgotten pair loses its backoff. */
const REMEMBERED_MAX = 50_000;

type LocalProvider = { readonly taken: Set<number>; closing: Closing; usedAtMs: number };

const OPEN: Closing = { backoffUntilMs: 0, failures: 0, refusal: null };

export type LocalSlots = SlotPool & {
  /** Reports the end of a session whose slot belongs to another pool. */
  readonly close: (slotKey: SlotKey, end: SessionEnd | null) => ProviderBackoff;
};

/** The slots of a single process. The process needs no table, so its sessions join no wait queue and draw no tickets. */
export const createLocalSlots = ({ now }: Pick<World, "now">): LocalSlots => {
  const providers = createBoundedMap<LocalProvider>({ weightMax: REMEMBERED_MAX });

  const use = ({ limitKey }: SlotKey, atMs: number): LocalProvider => {
    const provider = providers.get(limitKey) ?? { taken: new Set(), closing: OPEN, usedAtMs: atMs };
    if (atMs - provider.usedAtMs > RETENTION_SECONDS * 1_000) provider.closing = OPEN;
    provider.usedAtMs = atMs;
    providers.set(limitKey, provider);
    return provider;
  };

  const close: LocalSlots["close"] = (slotKey, end) => {
    const atMs = now().getTime();
    const provider = use(slotKey, atMs);
    provider.closing = (end && closeAfter(provider.closing, end, atMs)) ?? provider.closing;
    return getBackoff(provider.closing, atMs);
  };

  return {
    close,
    mayAcquire: ({ limitKey, slots }) => {
      const taken = providers.get(limitKey)?.taken;
      return !taken || slots.some((slot) => !taken.has(slot));
    },
    acquire: async (slotKey) => {
      const atMs = now().getTime();
      const { taken, closing } = use(slotKey, atMs);
      if (isBackingOff(closing, atMs))
        return { kind: "backoff", backoff: getBackoff(closing, atMs) };
      const slot = slotKey.slots.find((one) => !taken.has(one));
      if (slot === undefined) return { kind: "full" };
      taken.add(slot);
      const release = async (end: SessionEnd | null): Promise<ProviderBackoff> => {
        taken.delete(slot);
        return close(slotKey, end);
      };
      return { kind: "acquired", slot: { release } };
    },
  };
};

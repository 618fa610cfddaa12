import type { ItemStore } from "@mailproof/core/lib/limit-time";
import { toEpochSeconds } from "@mailproof/core/lib/time";
import type { Item, Key, Update } from "@mailproof/core/ports/table";
import { applyWrite, getItemKey, mayApply, toItemId } from "@mailproof/core/ports/writes";
import { listLeases } from "@mailproof/core/smtp-pool/slots/provider-state";
import { createBoundedMap } from "@mailproof/mail/lib/bounded-map";
import { type Calls, ENDED } from "./calls.ts";

// The main thread's memory holds the engine threads' shared knowledge of mail providers. Nearly all sessions of a provider are on one
// thread; only sessions at a domain's second host, or at a domain with hosts of several providers, may be on another.

type Lease = { readonly key: Key; readonly field: string; readonly text: string };

export const createProviderItems = () => {
  const items = createMemoryItems();
  const leases = new Map<object, Map<string, Lease>>();
  return {
    handlersOf: (thread: object) => ({
      getProvider: items.get,
      writeProvider: (write: Update) => {
        const own = leases.get(thread) ?? new Map<string, Lease>();
        leases.set(thread, own);
        for (const { field, text } of listLeases(write.set ?? {}))
          if (text === undefined) own.delete(`${write.update.pk} ${field}`);
          else own.set(`${write.update.pk} ${field}`, { key: write.update, field, text });
        return items.write(write);
      },
    }),
    /** The sessions of a thread that ended have ended. */
    releaseAll: async (thread: object): Promise<void> => {
      const own = [...(leases.get(thread)?.values() ?? [])];
      leases.delete(thread);
      const free = ({ key, field, text }: Lease) =>
        items.write({ update: key, set: { [field]: undefined }, where: { [field]: text } });
      await Promise.all(own.map(free));
    },
  };
};

/** The main thread remembers at most this number of providers and exits; a forgotten pair loses its backoff. */
const ITEMS_MAX = 50_000;

const createMemoryItems = (): ItemStore => {
  const items = createBoundedMap<Item>({ weightMax: ITEMS_MAX });
  const find = (id: string): Item | undefined => {
    const item = items.get(id);
    return item && (item.expires_at ?? Infinity) > toEpochSeconds(new Date()) ? item : undefined;
  };
  return {
    get: async (key) => find(toItemId(key)),
    write: async (write) => {
      const id = toItemId(getItemKey(write));
      const stored = find(id);
      if (!mayApply(write, stored)) return { outcome: "refused", refusedWrite: write };
      const item = applyWrite(write, stored);
      if (item) items.set(id, item);
      else items.delete(id);
      return { outcome: "committed", item };
    },
  };
};

export type ProviderItems = ReturnType<typeof createProviderItems>;
export type ProviderHandlers = ReturnType<ProviderItems["handlersOf"]>;

export const createRemoteItems = ({ call }: Calls<ProviderHandlers>): ItemStore => ({
  get: async (key) => requireReply(await call("getProvider", key)),
  write: async (write) => requireReply(await call("writeProvider", write as Update)),
});

const requireReply = <Value>(reply: Value | typeof ENDED): Value => {
  if (reply === ENDED) throw new Error("the main thread has ended");
  return reply;
};

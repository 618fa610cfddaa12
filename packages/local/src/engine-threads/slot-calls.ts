import type { Key, Update } from "@mailproof/core/ports/table";
import { createMemoryItems, type ItemStore } from "@mailproof/core/smtp-pool/slots/item-store";
import { listLeases } from "@mailproof/core/smtp-pool/slots/provider-state";
import { type Calls, ENDED } from "./calls.ts";

// What all engine threads know of mail providers is in the memory of the main thread. Nearly all sessions of a provider
// are on one thread; only those at the second host of a domain, or of one whose hosts are several providers', may be on
// another.

type Lease = { readonly key: Key; readonly field: string; readonly text: string };

export const createProviderItems = () => {
  const items = createMemoryItems({ now: () => new Date() });
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

export type ProviderItems = ReturnType<typeof createProviderItems>;
export type ProviderHandlers = ReturnType<ProviderItems["handlersOf"]>;

/** On an engine thread. */
export const createRemoteItems = ({ call }: Calls<ProviderHandlers>): ItemStore => ({
  get: async (key) => requireReply(await call("getProvider", key)),
  write: async (write) => requireReply(await call("writeProvider", write as Update)),
});

const requireReply = <Value>(reply: Value | typeof ENDED): Value => {
  if (reply === ENDED) throw new Error("the main thread has ended");
  return reply;
};

import { limitsOf, providerOf } from "./limits.ts";
import type { Connect } from "./wire.ts";

/**
 * A server that has not hung up itself needs a moment to notice that we have. Whoever came in at once would be one
 * guest too many in its count.
 */
const CLEARING_MS = 10;

type Host = { taken: number; readonly queue: (() => void)[] };

/**
 * A door that keeps every mail host to its connections at once, whichever way led there: hosts stand in the MX
 * records of many domains, as the first choice of one and the second of another. Who is too many waits outside.
 */
export const withinHostLimits = (
  connect: Connect,
  sleep: (ms: number) => Promise<void>,
): Connect => {
  const hosts = new Map<string, Host>();

  const enter = async (name: string): Promise<void> => {
    const host = hosts.get(name) ?? { taken: 0, queue: [] };
    hosts.set(name, host);
    // A place that is handed over stays taken.
    if (host.taken >= limitsOf(providerOf(name)).connections)
      return new Promise((resolve) => host.queue.push(resolve));
    host.taken += 1;
  };

  const leave = (name: string): void => {
    const host = hosts.get(name);
    const next = host?.queue.shift();
    if (!host || next) return next?.();
    host.taken -= 1;
    if (host.taken === 0) hosts.delete(name);
  };

  return async (target, options) => {
    await enter(target.host);
    const wire = await connect(target, options);
    if (typeof wire === "string") {
      leave(target.host);
      return wire;
    }
    let isOpen = true;
    const close = async (): Promise<void> => {
      const wasOpen = isOpen;
      isOpen = false;
      await wire.close();
      if (wasOpen) void sleep(CLEARING_MS).then(() => leave(target.host));
    };
    return { ...wire, close };
  };
};

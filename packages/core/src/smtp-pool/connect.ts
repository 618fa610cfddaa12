import { findMailProvider } from "@mailproof/mail/mail-providers";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import type { Requester, YieldToCallers } from "./fairness.ts";

/**
 * A server takes a moment to notice that a connection has closed. The server would count a
 * session that began at once as one too many.
 */
const CLEARING_MS = 10;

type HostSlots = { inUse: number; readonly queue: (() => void)[] };

/**
 * Limits the concurrency at every mail host by each exit, whichever domain led there: many domains list the same hosts in
 * their MX records, as first or second choice. A connection beyond the limit waits.
 */
export const limitHostConnections = (
  connect: SmtpConnect,
  sleep: (ms: number) => Promise<void>,
): SmtpConnect => {
  const hosts = new Map<string, HostSlots>();

  const acquireSlot = async (key: string, name: string): Promise<void> => {
    const host = hosts.get(key) ?? { inUse: 0, queue: [] };
    hosts.set(key, host);
    // The next session in the queue inherits the slot, so the count stays.
    if (host.inUse >= findMailProvider(name).limits.connections)
      return new Promise((resolve) => host.queue.push(resolve));
    host.inUse += 1;
  };

  const releaseSlot = (key: string): void => {
    const host = hosts.get(key);
    const next = host?.queue.shift();
    if (!host || next) return next?.();
    host.inUse -= 1;
    if (host.inUse === 0) hosts.delete(key);
  };

  return async (target, options) => {
    const key = `${target.host} by ${options.exit}`;
    await acquireSlot(key, target.host);
    const wire = await connect(target, options);
    if (typeof wire === "string") {
      releaseSlot(key);
      return wire;
    }
    let isOpen = true;
    const close = async (): Promise<void> => {
      const wasOpen = isOpen;
      isOpen = false;
      await wire.close();
      if (wasOpen) void sleep(CLEARING_MS).then(() => releaseSlot(key));
    };
    return { ...wire, close };
  };
};

type YieldPorts = { readonly connect: SmtpConnect; readonly yieldToCallers?: YieldToCallers };

/** A session that serves only lists waits for its turn before it connects and after each reply. */
export const createYieldingConnect = (
  { connect, yieldToCallers }: YieldPorts,
  batch: readonly { readonly requester: Requester }[],
): SmtpConnect => {
  const requester = batch[0]?.requester;
  if (!yieldToCallers || batch.some((one) => one.requester.priority === "caller")) return connect;
  return async (target, options) => {
    await yieldToCallers(requester);
    const wire = await connect(target, options);
    if (typeof wire === "string") return wire;
    const receive = async (waitMs: number) => {
      const reply = await wire.receive(waitMs);
      await yieldToCallers(requester);
      return reply;
    };
    return { ...wire, receive };
  };
};

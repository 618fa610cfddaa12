import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import type { Requester, YieldToCallers } from "./requester.ts";

type YieldPorts = { readonly connect: SmtpConnect; readonly yieldToCallers?: YieldToCallers };

/** A session for lists alone waits for its turn before it connects and after each reply. */
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

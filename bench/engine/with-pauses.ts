import { setTimeout as sleep } from "node:timers/promises";
import { isFault, type SmtpConnect } from "@mailproof/mail/smtp/wire";

/** The rule that was: after a session that was mostly refused, five seconds of nothing. */
const PAUSE_MS = 5_000;
const REFUSALS_MIN = 9;

/** The same connections, each of which is kept for a pause after so many refusals. For comparison only. */
export const withPauses =
  (connect: SmtpConnect): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    if (typeof wire === "string") return wire;
    let refusals = 0;
    return {
      ...wire,
      receive: async (waitMs) => {
        const reply = await wire.receive(waitMs);
        if (!isFault(reply) && reply.code >= 500) refusals++;
        return reply;
      },
      close: async () => {
        await wire.close();
        if (refusals >= REFUSALS_MIN) await sleep(PAUSE_MS);
        refusals = 0;
      },
    };
  };

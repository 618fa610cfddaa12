import { judgeReach, type MeasuredReach, storeReach } from "@mailproof/core/egress/reach";
import { visitServers } from "@mailproof/core/egress/server-visits";
import type { World } from "@mailproof/core/ports/world";
import type { Schedule } from "@mailproof/core/runtime/worker";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import type { Environment } from "../environment.ts";
import type { openMailPorts } from "../mail-ports.ts";

const EVERY_SECONDS = 3_600;

export type ReachWatch = {
  readonly schedule: Schedule;
  /** The outcome of the first measurement. Never resolves when the server measures nothing. */
  readonly first: Promise<MeasuredReach>;
};

/** Measures at the start and each hour whether mail servers can be reached. */
export const createReachWatch = (
  mail: ReturnType<typeof openMailPorts>,
  { REACH_DOMAINS: domains }: Pick<Environment, "REACH_DOMAINS">,
): ReachWatch => {
  const { promise: first, resolve } = Promise.withResolvers<MeasuredReach>();
  const run = async (world: World): Promise<void> => {
    if (domains.length === 0) return;
    const { port } = mail.smtp;
    const visitor = { helo: null, port, domains };
    const visiting = visitServers(mail, visitor, mail.exits ?? [DIRECT_EXIT]);
    // The measurement waits half a minute for a silent server, and a stop does not wait for the measurement.
    const visits = await Promise.race([visiting, whenStopped(world.stopping)]);
    if (!visits) return;
    const reach = judgeReach(visits);
    resolve(reach);
    await storeReach(world, reach);
    world.log("reach_measured", { reach });
  };
  return { schedule: { name: "reach", everySeconds: EVERY_SECONDS, run }, first };
};

const whenStopped = (stopping: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (stopping.aborted) resolve(undefined);
    stopping.addEventListener("abort", () => resolve(undefined), { once: true });
  });

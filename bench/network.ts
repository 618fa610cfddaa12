import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LabOptions, LabStats } from "@mailproof/lab/lab";
import type { LabAddress } from "./engine/job.ts";
import { receiveMessage } from "./receive-message.ts";

export type Network = Awaited<ReturnType<typeof startNetwork>>;

/** The lab's mail network in its own process, so that the processor time of a client is the client's alone. */
export const startNetwork = async (options: LabOptions) => {
  const file = fileURLToPath(new URL("engine/lab-process.ts", import.meta.url));
  const child = fork(file, [JSON.stringify(options)], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const address = await receiveMessage<LabAddress>(child);
  const stats = (): Promise<LabStats> => {
    child.send("counts");
    return receiveMessage<LabStats>(child);
  };
  const end = (): void => {
    if (child.connected) child.disconnect();
  };
  return { address, stats, end };
};

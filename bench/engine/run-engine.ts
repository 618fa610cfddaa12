import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LabOptions } from "@mailproof/lab/lab";
import { startNetwork } from "../network.ts";
import { receiveMessage } from "../receive-message.ts";
import type { EngineJob, EngineOutcome, RunFigures } from "./job.ts";

/** One engine against a lab of its own, so that the lab's counts are this engine's. Each is a process. */
export const runEngine = async (
  lab: LabOptions,
  job: Omit<EngineJob, "labAddress">,
): Promise<EngineOutcome> => {
  const network = await startNetwork(lab);
  const client = fork(fileURLToPath(new URL("engine-process.ts", import.meta.url)), [], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  try {
    client.send({ ...job, labAddress: network.address });
    const runs = await receiveMessage<readonly RunFigures[]>(client);
    return { runs, stats: await network.stats() };
  } finally {
    client.kill();
    network.end();
  }
};

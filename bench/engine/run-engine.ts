import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LabOptions, LabStats } from "@mailproof/lab/lab";
import type { EngineJob, EngineOutcome, LabAddress, RunFigures } from "./job.ts";

/** One engine against a lab of its own, so that the lab's counts are this engine's. Each is a process. */
export const runEngine = async (
  lab: LabOptions,
  job: Omit<EngineJob, "labAddress">,
): Promise<EngineOutcome> => {
  const network = startProcess("lab-process.ts", [JSON.stringify(lab)]);
  const client = startProcess("engine-process.ts", []);
  try {
    const labAddress = await receiveMessage<LabAddress>(network);
    client.send({ ...job, labAddress });
    const runs = await receiveMessage<readonly RunFigures[]>(client);
    network.send("counts");
    return { runs, stats: await receiveMessage<LabStats>(network) };
  } finally {
    client.kill();
    if (network.connected) network.disconnect();
  }
};

const startProcess = (file: string, args: readonly string[]): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });

const receiveMessage = async <T>(child: ChildProcess): Promise<T> => {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`A process of the bench ended early, with code ${code}.`);
  });
  const [message] = (await Promise.race([once(child, "message"), ended])) as [T];
  return message;
};

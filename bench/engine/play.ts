import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LabOptions, LabStats } from "@mailproof/local/lab/lab";
import type { Job, Outcome, Place, RunFigures } from "./job.ts";

/** One engine against a lab of its own, so that the lab's counts are this engine's. Each is a process. */
export const play = async (lab: LabOptions, job: Omit<Job, "place">): Promise<Outcome> => {
  const network = start("lab-process.ts", [JSON.stringify(lab)]);
  const client = start("client.ts", []);
  try {
    const place = await hear<Place>(network);
    client.send({ ...job, place });
    const runs = await hear<readonly RunFigures[]>(client);
    network.send("counts");
    return { runs, stats: await hear<LabStats>(network) };
  } finally {
    client.kill();
    if (network.connected) network.disconnect();
  }
};

const start = (file: string, args: readonly string[]): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });

const hear = async <T>(child: ChildProcess): Promise<T> => {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`A process of the bench ended early, with code ${code}.`);
  });
  const [message] = (await Promise.race([once(child, "message"), ended])) as [T];
  return message;
};

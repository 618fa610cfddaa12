import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { weather } from "./storm.ts";

// npm run simulate -- --seeds N [--from S]: plays so many histories, on every core, and prints the seeds of those
// that went wrong.

type Part = { readonly from: number; readonly to: number; readonly step: number };
type News = { readonly seed: number; readonly wrong: readonly string[] };

const PROGRESS_EVERY = 1_000;

const playAll = async ({ from, to, step }: Part, tell: (news: News) => void): Promise<void> => {
  for (let seed = from; seed < to; seed += step) tell({ seed, wrong: await weather(seed) });
};

const readSeeds = (): { readonly from: number; readonly to: number } => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "10000" },
      from: { type: "string", default: "0" },
    },
  });
  const [seeds, from] = [Number(values.seeds), Number(values.from)];
  if (Number.isSafeInteger(seeds) && seeds > 0 && Number.isSafeInteger(from) && from >= 0)
    return { from, to: from + seeds };
  process.stderr.write("--seeds and --from must be whole numbers.\n");
  process.exit(2);
};

const simulate = async (): Promise<void> => {
  const { from, to } = readSeeds();
  const start = performance.now();
  const step = availableParallelism();
  const failed: number[] = [];
  let played = 0;
  const hear = ({ seed, wrong }: News): void => {
    played++;
    if (played % PROGRESS_EVERY === 0 && process.stderr.isTTY)
      process.stderr.write(`\r${played} of ${to - from} histories`);
    if (wrong.length === 0) return;
    failed.push(seed);
    process.stdout.write(`\nseed ${seed}: ${wrong.join("; ")}\n`);
  };
  const parts = Array.from({ length: step }, (_, part) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { from: from + part, to, step },
    });
    worker.on("message", hear);
    return new Promise<void>((resolve, reject) =>
      worker.once("error", reject).once("exit", () => resolve()),
    );
  });
  await Promise.all(parts);
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(
    `\n${played} histories in ${seconds.toFixed(1)} s, ${failed.length} of them with a violation.\n`,
  );
  process.exitCode = failed.length === 0 && played === to - from ? 0 : 1;
};

if (isMainThread) await simulate();
else await playAll(workerData as Part, (news) => parentPort?.postMessage(news));

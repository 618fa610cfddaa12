import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { weather } from "./storm.ts";
import { FLOWS, pairs, playFlow } from "./sweep.ts";

// npm run simulate -- --seeds N [--from S] [--pairs]: plays so many histories, and with --pairs also every pair of
// faults in every flow, on every core, and prints those that went wrong.

type Asked = { readonly from: number; readonly to: number; readonly pairs: boolean };
/** Worker `index` of `workers` plays the histories whose number leaves that remainder. */
type Share = Asked & { readonly index: number; readonly workers: number };
type News = { readonly history: string; readonly wrong: readonly string[] };
type Tell = (news: News) => void;

const PROGRESS_EVERY = 1_000;

const playSeeds = async ({ from, to, index, workers }: Share, tell: Tell): Promise<void> => {
  for (let seed = from + index; seed < to; seed += workers)
    tell({ history: `seed ${seed}`, wrong: await weather(seed) });
};

const playPairs = async ({ index, workers }: Share, tell: Tell): Promise<void> => {
  let at = 0;
  for (const [name, flow] of Object.entries(FLOWS)) {
    const { calls } = await playFlow(flow, new Map());
    for (const planned of pairs(calls))
      if (at++ % workers === index) {
        const { wrong } = await playFlow(flow, planned);
        tell({ history: `${name}, faults ${JSON.stringify([...planned])}`, wrong });
      }
  }
};

const readAsked = (): Asked => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "10000" },
      from: { type: "string", default: "0" },
      pairs: { type: "boolean", default: false },
    },
  });
  const [seeds, from] = [Number(values.seeds), Number(values.from)];
  if (Number.isSafeInteger(seeds) && seeds >= 0 && Number.isSafeInteger(from) && from >= 0)
    return { from, to: from + seeds, pairs: values.pairs };
  process.stderr.write("--seeds and --from must be whole numbers.\n");
  process.exit(2);
};

const simulate = async (): Promise<void> => {
  const asked = readAsked();
  const start = performance.now();
  const workers = availableParallelism();
  let failed = 0;
  let played = 0;
  const hear = ({ history, wrong }: News): void => {
    played++;
    if (played % PROGRESS_EVERY === 0 && process.stderr.isTTY)
      process.stderr.write(`\r${played} histories`);
    if (wrong.length === 0) return;
    failed++;
    process.stdout.write(`\n${history}: ${wrong.join("; ")}\n`);
  };
  const ended = Array.from({ length: workers }, (_, index) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...asked, index, workers },
    });
    worker.on("message", hear);
    return new Promise<number>((resolve, reject) =>
      worker.once("error", reject).once("exit", resolve),
    );
  });
  const codes = await Promise.all(ended);
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(
    `\n${played} histories in ${seconds.toFixed(1)} s, ${failed} of them with a violation.\n`,
  );
  const isWhole = codes.every((code) => code === 0) && played >= asked.to - asked.from;
  process.exitCode = failed === 0 && isWhole ? 0 : 1;
};

if (isMainThread) await simulate();
else {
  const tell: Tell = (news) => parentPort?.postMessage(news);
  const share = workerData as Share;
  await playSeeds(share, tell);
  if (share.pairs) await playPairs(share, tell);
}

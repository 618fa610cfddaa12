import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { CURRENT, loadLastRelease } from "../app/release.ts";
import { run, runMixed } from "./simulation.ts";
import { FLOWS, listFurtherPairs, runFlow, runUndisturbed, toHistoryName } from "./sweep.ts";

// npx node test/simulation/cli.ts --seeds N [--from S] [--pairs M] [--mixed]: plays so many histories, and with --pairs also one of M pairs of
// faults in every flow that the sweeps do not play (1: all of them), on every core, and prints those that went wrong.

type RunOptions = {
  readonly from: number;
  readonly to: number;
  readonly pairs: number;
  /** Processes of the last release among those of today's code. */
  readonly mixed: boolean;
};
/** Worker `index` of `workers` plays the histories whose number leaves that remainder. */
type WorkerShare = RunOptions & { readonly index: number; readonly workers: number };
type RunResult = { readonly history: string; readonly wrong: readonly string[] };
type ReportResult = (result: RunResult) => void;

const PROGRESS_EVERY = 1_000;

const runSeeds = async (
  { from, to, index, workers, mixed }: WorkerShare,
  report: ReportResult,
): Promise<void> => {
  const play = mixed ? await createMixedRun() : run;
  for (let seed = from + index; seed < to; seed += workers)
    report({ history: `seed ${seed}`, wrong: await play(seed) });
};

/** A deployment, and every other time a rollback. */
const createMixedRun = async (): Promise<typeof run> => {
  const releases = [CURRENT, await loadLastRelease()] as const;
  return (seed) => runMixed(seed, releases, releases[(seed >> 1) & 1 ? 1 : 0]);
};

const runPairs = async (
  { index, workers, pairs }: WorkerShare,
  report: ReportResult,
): Promise<void> => {
  let at = 0;
  for (const [name, flow] of Object.entries(FLOWS)) {
    const { calls } = await runUndisturbed(flow);
    for (const planned of listFurtherPairs(name, calls))
      if (at++ % (workers * pairs) === index * pairs) {
        const { wrong } = await runFlow(flow, planned);
        report({ history: toHistoryName(name, planned), wrong });
      }
  }
};

const readOptions = (): RunOptions => {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "10000" },
      from: { type: "string", default: "0" },
      pairs: { type: "string", default: "0" },
      mixed: { type: "boolean", default: false },
    },
  });
  const numbers = [values.seeds, values.from, values.pairs].map(Number);
  const [seeds = 0, from = 0, pairs = 0] = numbers;
  if (numbers.every((one) => Number.isSafeInteger(one) && one >= 0))
    return { from, to: from + seeds, pairs, mixed: values.mixed };
  process.stderr.write("--seeds, --from and --pairs must be whole numbers.\n");
  process.exit(2);
};

const simulate = async (): Promise<void> => {
  const options = readOptions();
  const start = performance.now();
  const workers = availableParallelism();
  let failed = 0;
  let finished = 0;
  const recordResult = ({ history, wrong }: RunResult): void => {
    finished++;
    if (finished % PROGRESS_EVERY === 0 && process.stderr.isTTY)
      process.stderr.write(`\r${finished} histories`);
    if (wrong.length === 0) return;
    failed++;
    process.stdout.write(`\n${history}: ${wrong.join("; ")}\n`);
  };
  const exits = Array.from({ length: workers }, (_, index) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...options, index, workers },
    });
    worker.on("message", recordResult);
    return new Promise<number>((resolve, reject) =>
      worker.once("error", reject).once("exit", resolve),
    );
  });
  const codes = await Promise.all(exits);
  const seconds = (performance.now() - start) / 1000;
  process.stdout.write(
    `\n${finished} histories in ${seconds.toFixed(1)} s, ${failed} of them with a violation.\n`,
  );
  const isComplete = codes.every((code) => code === 0) && finished >= options.to - options.from;
  process.exitCode = failed === 0 && isComplete ? 0 : 1;
};

if (isMainThread) await simulate();
else {
  const report: ReportResult = (result) => parentPort?.postMessage(result);
  const share = workerData as WorkerShare;
  await runSeeds(share, report);
  if (share.pairs) await runPairs(share, report);
}

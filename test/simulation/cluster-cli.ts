import { simulateCluster } from "./cluster.ts";

// npx node test/simulation/cluster-cli.ts [processes] [ms] [exits]: the simulated cluster with 200 Gmail rows for each process, a line for
// each case.

const ROWS = 200;
const PROCESSES = [5, 20, 70, 200];
const REPLY_MS = [50, 100, 200];

const [onlyProcesses, onlyMs, exits = 1] = process.argv.slice(2).map(Number);
const cells = PROCESSES.flatMap((processes) =>
  REPLY_MS.map((replyMs) => ({ processes, replyMs })),
).filter(
  ({ processes, replyMs }) =>
    (onlyProcesses ?? processes) === processes && (onlyMs ?? replyMs) === replyMs,
);

let isWrong = false;
for (const { processes, replyMs } of cells) {
  const cluster = await simulateCluster(processes, replyMs, ROWS, { exits });
  const { rows, valid, unknown, askedTwice, peak, sessions, rate, rateMax } = cluster;
  const line = {
    processes,
    replyMs,
    exits,
    rows,
    valid,
    unknown,
    askedTwice,
    peak,
    sessions,
    rate: rate.toFixed(1),
    ofLimit: `${Math.round((rate / rateMax) * 100)} %`,
    seconds: Math.round(cluster.seconds),
    processSecondsPerThousand: Math.round(cluster.processSeconds),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  isWrong ||= valid !== rows || askedTwice > 0 || rate < rateMax * 0.85;
}
process.exitCode = isWrong ? 1 : 0;

import { parseArgs } from "node:util";
import { CONTEXT_REQUESTS, play } from "./play.ts";

// npx node test/fuzz/cli.ts --n N [--seed S]: sends N requests, and prints each response that differs from the document.

const { values } = parseArgs({
  options: { n: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
});
const [n, first] = [Number(values.n), Number(values.seed)];
if (!Number.isSafeInteger(n) || n < 1 || !Number.isSafeInteger(first)) {
  process.stderr.write("--n and --seed must be whole numbers.\n");
  process.exit(2);
}

const start = performance.now();
const answers = new Map<string, number>();
let [sent, wrong] = [0, 0];
for (let seed = first; sent < n; seed++) {
  const played = await play(seed, Math.min(CONTEXT_REQUESTS, n - sent));
  sent += played.requests;
  wrong += played.wrong.length;
  for (const [answer, count] of played.answers)
    answers.set(answer, (answers.get(answer) ?? 0) + count);
  for (const one of played.wrong) process.stdout.write(`${one}\n`);
}
const byStatus = Map.groupBy(answers, ([answer]) => answer.split(" ").at(-1) ?? "");
const sums = [...byStatus]
  .map(([status, all]) => `${status}: ${all.reduce((sum, [, count]) => sum + count, 0)}`)
  .toSorted();
const seconds = (performance.now() - start) / 1_000;
process.stdout.write(
  `${sent} requests in ${seconds.toFixed(1)} s (${sums.join(", ")}); ${answers.size} pairs of operation and status seen; ${wrong} answers otherwise than documented.\n`,
);
process.exitCode = wrong === 0 ? 0 : 1;

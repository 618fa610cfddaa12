import { computePercentile, createRow, type ReportRow } from "./report.ts";

// 50 accounts with a batch of ten each, beside a file of 500,000 rows, on AWS, in virtual time: the endpoints, the adapter
// of SQS and the Lambda of chunks are real, the fair queue is a model of what AWS documents (test/aws/fair-queues.ts), and
// how long chunks take is given.

const ROWS = 500_000;
const ACCOUNTS = 50;
const ARRIVAL_MS = 10 * 60_000;

export const run = async (): Promise<readonly ReportRow[]> => {
  // Read when the module of the metrics is loaded.
  process.env["POWERTOOLS_METRICS_DISABLED"] = "true";
  const { simulateFairQueues } = await import("../test/simulation/fair-queues.ts");
  const beside = { fileRows: ROWS, accounts: ACCOUNTS, arrivalMs: ARRIVAL_MS };
  const alone = await simulateFairQueues({ ...beside, fileRows: 0 });
  const grouped = await simulateFairQueues(beside);
  const byInFlight = await simulateFairQueues({
    ...beside,
    measures: { byInFlight: true, byTime: false },
  });
  const ungrouped = await simulateFairQueues({ ...beside, isGrouped: false });
  return [
    toRow("a batch of 10, alone, p99", alone, 0.99),
    toRow("beside the file, median", grouped, 0.5),
    createRow("fairAwsBatch", computePercentile(grouped, 0.99)),
    createRow("fairAwsRatio", computePercentile(grouped, 0.99) / computePercentile(alone, 0.99)),
    toRow("if SQS counted messages in flight alone, p99", byInFlight, 0.99),
    toRow("without MessageGroupId, median", ungrouped, 0.5),
    toRow("without MessageGroupId, p99", ungrouped, 0.99),
  ];
};

const toRow = (what: string, seconds: readonly number[], share: number): ReportRow => ({
  what,
  value: computePercentile(seconds, share),
  unit: "seconds",
});

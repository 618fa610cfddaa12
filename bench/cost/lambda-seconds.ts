import { type RowsAt, simulateCluster } from "../../test/simulation/cluster.ts";

// How long the Lambdas of chunks run for the rows of files, from the simulated cluster: the real engine and the real worker in
// virtual time, with mail servers that take as long for a reply as is written here (docs/design/mail-slots.md).

type LambdaTime = { readonly rows: string; readonly secondsPerRow: number };

const ROWS_EACH = 200;

const CASES: readonly {
  readonly rows: string;
  readonly at: RowsAt;
  readonly processes: number;
  readonly replyMs: number;
}[] = [
  { rows: "at hosts of their own", at: "own hosts", processes: 20, replyMs: 100 },
  { rows: "at Gmail, 20 chunks at once", at: "gmail", processes: 20, replyMs: 100 },
  { rows: "at Gmail, 70 chunks at once, slow replies", at: "gmail", processes: 70, replyMs: 200 },
];

export const measureLambdaTimes = async (): Promise<readonly LambdaTime[]> => {
  const times: LambdaTime[] = [];
  for (const { rows, at, processes, replyMs } of CASES) {
    const { processSeconds } = await simulateCluster(processes, replyMs, ROWS_EACH, { rowsAt: at });
    times.push({ rows, secondsPerRow: processSeconds / 1_000 });
  }
  return times;
};

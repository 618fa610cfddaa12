import { expect, test } from "vitest";
import { createDataResponse, whenAnswered } from "./fake-fetch.ts";

const page = (status: string, rows: readonly number[], next_key?: string) =>
  createDataResponse({
    job_id: "job_1",
    status,
    ...(rows.length > 0 && { results: rows.map((row) => ({ row })) }),
    ...(next_key !== undefined && { next_key }),
  });

const FULL = Array.from({ length: 1_000 }, (_row, n) => n + 1);
const runningJob = () => [
  page("processing", FULL, "a"),
  page("processing", [1_001], "b"),
  page("processing", [], "c"),
  page("completed", [1_003], "d"),
  page("completed", [1_002]),
];

const getCursors = (sent: readonly { readonly url: string }[]) =>
  sent.map(({ url }) => new URL(url).searchParams.get("next_key"));

test("results of a running job are followed to its end, with a pause whenever no more are ready", async () => {
  const { client, sent, waitsMs } = whenAnswered(runningJob());

  const rows = await Array.fromAsync(client.results({ id: "job_1" }), ({ row }) => row);

  expect(rows).toEqual([...FULL, 1_001, 1_003, 1_002]);
  expect(getCursors(sent)).toEqual([null, "a", "b", "c", "d"]);
  expect(waitsMs).toEqual([250, 500]);
});

test("without waiting they end at the last row that is ready", async () => {
  const { client, sent, waitsMs } = whenAnswered(runningJob());

  const results = client.results({ id: "job_1" }, { wait: false });

  expect(await Array.fromAsync(results, ({ row }) => row)).toEqual([...FULL, 1_001]);
  expect(getCursors(sent)).toEqual([null, "a", "b"]);
  expect(waitsMs).toEqual([]);
});

test("a signal ends the waiting for more", async () => {
  const stop = new AbortController();
  const { client } = whenAnswered(runningJob());
  const read: number[] = [];

  const following = (async () => {
    for await (const { row } of client.results({ id: "job_1" }, { signal: stop.signal })) {
      read.push(row);
      if (row === 1_001) stop.abort();
    }
  })();

  await expect(following).rejects.toMatchObject({ code: "ABORTED" });
  expect(read).toHaveLength(1_001);
});

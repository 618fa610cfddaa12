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

test("the client follows the results of a running job to its end and pauses while no row is ready", async () => {
  const { client, sent, waitsMs } = whenAnswered(runningJob());

  const rows = await Array.fromAsync(client.results({ id: "job_1" }), ({ row }) => row);

  expect(rows).toEqual([...FULL, 1_001, 1_003, 1_002]);
  expect(getCursors(sent)).toEqual([null, "a", "b", "c", "d"]);
  expect(waitsMs).toEqual([250, 500]);
});

test("the client's results without waiting end at the last row that is ready", async () => {
  const { client, sent, waitsMs } = whenAnswered(runningJob());

  const results = client.results({ id: "job_1" }, { wait: false });

  expect(await Array.fromAsync(results, ({ row }) => row)).toEqual([...FULL, 1_001]);
  expect(getCursors(sent)).toEqual([null, "a", "b"]);
  expect(waitsMs).toEqual([]);
});

test("an abort signal ends the wait for more results", async () => {
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

// A large export is made by a worker of the service, and a request waits for it. It is sent again when that takes longer.

const beingMade = () => {
  const message = "The file of this export is being made. Nothing was charged.";
  const error = { code: "NOT_READY", money: "nothing_charged", retryable: true, message };
  const headers = { "retry-after": "2" };
  return Response.json({ success: false, error, request_id: "r" }, { status: 409, headers });
};
const LINK = { complete: true, download_url: "https://files.example.com/1" };

test("the client requests an export again until its link is ready", async () => {
  const { client, sent, waitsMs } = whenAnswered([beingMade(), beingMade(), Response.json(LINK)]);

  expect(await client.downloadJob({ id: "job_1" })).toEqual(LINK);
  expect(sent.map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => "https://api.example.com/v1/jobs/job_1/download?format=json"),
  );
  expect(waitsMs.map((ms) => Math.floor(ms / 1_000))).toEqual([2, 2]);
});

test("the client requests a CSV again until it is ready", async () => {
  const { client } = whenAnswered([beingMade(), new Response("email\r\na@b.c\r\n")]);

  expect(await (await client.download({ id: "job_1" })).text()).toBe("email\r\na@b.c\r\n");
});

test("the client returns the service's retryable error after the last attempt", async () => {
  const { client } = whenAnswered(Array.from({ length: 2 }, beingMade), { retries: 1 });

  await expect(client.downloadJob({ id: "job_1" })).rejects.toMatchObject({
    code: "NOT_READY",
    money: "nothing_charged",
    retryable: true,
    retryAfterMs: 2_000,
  });
});

test("an abort signal ends the wait for an export", async () => {
  const controller = new AbortController();
  const { client } = whenAnswered([
    async () => {
      controller.abort();
      return beingMade();
    },
  ]);

  await expect(
    client.downloadJob({ id: "job_1" }, { signal: controller.signal }),
  ).rejects.toMatchObject({ code: "ABORTED", money: "nothing_charged" });
});

import { expect, test } from "vitest";
import { whenAnswered } from "./fake-fetch.ts";

// A large export is made by a worker of the service. The client waits for it.

const pending = (headers: Record<string, string> = { "retry-after": "2" }) =>
  Response.json({ status: "processing", complete: false }, { status: 202, headers });
const LINK = { complete: true, download_url: "https://files.example.com/1" };

test("an export that is being made is requested again until its link is there", async () => {
  const { client, sent, waitsMs } = whenAnswered([pending(), pending(), Response.json(LINK)]);

  expect(await client.downloadJob({ id: "job_1" })).toEqual(LINK);
  expect(sent.map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => "https://api.example.com/v1/jobs/job_1/download?format=json"),
  );
  expect(waitsMs).toEqual([2_000, 2_000]);
});

test("a CSV that is being made is requested again until it is there", async () => {
  const { client } = whenAnswered([pending({}), new Response("email\r\na@b.c\r\n")]);

  expect(await (await client.download({ id: "job_1" })).text()).toBe("email\r\na@b.c\r\n");
});

test("a wait has the time of one attempt, and the error says that the call may be repeated", async () => {
  const { client, waitsMs } = whenAnswered(
    Array.from({ length: 6 }, () => pending()),
    { timeoutMs: 10_000 },
  );

  await expect(client.downloadJob({ id: "job_1" })).rejects.toMatchObject({
    code: "TIMEOUT",
    money: "nothing_charged",
    retryable: true,
    retryAfterMs: 2_000,
    message: "The result is not ready after 10000 ms. Nothing was charged.",
  });
  expect(waitsMs).toHaveLength(5);
});

test("a wait that is aborted ends", async () => {
  const controller = new AbortController();
  const { client } = whenAnswered([
    async () => {
      controller.abort();
      return pending();
    },
  ]);

  await expect(
    client.downloadJob({ id: "job_1" }, { signal: controller.signal }),
  ).rejects.toMatchObject({ code: "ABORTED", money: "nothing_charged" });
});

test("an accepted batch is no wait: its 202 is the answer", async () => {
  const data = { job_id: "job_1" };
  const { client } = whenAnswered([Response.json({ success: true, data }, { status: 202 })]);

  expect(await client.verifyBatch({ emails: ["a@b.c"] })).toEqual(data);
});

import { expect, test } from "vitest";
import { whenAnswered } from "./fake-fetch.ts";

// A large export is made by a worker of the service, and a request waits for it. It is sent again when that takes longer.

const beingMade = () => {
  const message = "The file of this export is being made. Nothing was charged.";
  const error = { code: "NOT_READY", money: "nothing_charged", retryable: true, message };
  const headers = { "retry-after": "2" };
  return Response.json({ success: false, error, request_id: "r" }, { status: 409, headers });
};
const LINK = { complete: true, download_url: "https://files.example.com/1" };

test("an export that is being made is requested again until its link is there", async () => {
  const { client, sent, waitsMs } = whenAnswered([beingMade(), beingMade(), Response.json(LINK)]);

  expect(await client.downloadJob({ id: "job_1" })).toEqual(LINK);
  expect(sent.map(({ url }) => url)).toEqual(
    Array.from({ length: 3 }, () => "https://api.example.com/v1/jobs/job_1/download?format=json"),
  );
  expect(waitsMs.map((ms) => Math.floor(ms / 1_000))).toEqual([2, 2]);
});

test("a CSV that is being made is requested again until it is there", async () => {
  const { client } = whenAnswered([beingMade(), new Response("email\r\na@b.c\r\n")]);

  expect(await (await client.download({ id: "job_1" })).text()).toBe("email\r\na@b.c\r\n");
});

test("after the last attempt the error is the service's, and says that the call may be repeated", async () => {
  const { client } = whenAnswered(Array.from({ length: 2 }, beingMade), { retries: 1 });

  await expect(client.downloadJob({ id: "job_1" })).rejects.toMatchObject({
    code: "NOT_READY",
    money: "nothing_charged",
    retryable: true,
    retryAfterMs: 2_000,
  });
});

test("a wait that is aborted ends", async () => {
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

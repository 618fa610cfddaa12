import { downloadJob } from "@mailproof/api/endpoints/download-job";
import { lambda } from "@mailproof/functions/lambda";
import { expect, test } from "vitest";
import { createContext } from "../aws/events.ts";
import { getRecords } from "../downloads.ts";
import { whenWorked } from "../drain-queues.ts";
import { createRows, givenJobOf, verifyEmail } from "../export-jobs.ts";
import { toEvent } from "../gateway.ts";
import { given } from "../given.ts";

const ROWS = 5_200;

/** 5 MB of CSV, in two parts. */
const givenLongCsv = async () => {
  const ctx = await given();
  const result = { ...(await verifyEmail(ctx.world, "ann@x.com")), reason: "x".repeat(1_000) };
  const rows = createRows(result, ROWS);
  await givenJobOf(ctx, [rows.slice(0, 3_000), rows.slice(3_000)]);
  const exportRows = { inRequest: 5_000, part: 2_000 };
  return { ...ctx, world: { ...ctx.world, settings: { ...ctx.world.settings, exportRows } } };
};

test("a large CSV that is too long for a Lambda is 409 until a worker has made it, and then 303", async () => {
  const ctx = await givenLongCsv();
  const request = () => {
    const url = "/v1/jobs/job_1/download";
    const headers = [["x-api-key", ctx.liveKey]] as const;
    const event = toEvent({ method: "GET", url, headers }, [downloadJob]);
    return lambda(downloadJob, ctx.world)(event, createContext());
  };

  const pending = await request();
  expect(pending.statusCode).toBe(409);
  expect(JSON.parse(pending.body ?? "").error).toMatchObject({
    code: "NOT_READY",
    retryable: true,
  });
  expect(pending.headers).toMatchObject({
    "retry-after": "2",
    "content-type": "application/json; charset=utf-8",
    "x-request-id": expect.any(String),
  });
  expect(pending.headers).not.toHaveProperty("content-disposition");
  await whenWorked(ctx);

  const { statusCode, headers } = await request();
  expect(statusCode).toBe(303);
  const [, key = ""] = /(exports\/[^?]+)\?/.exec(String(headers?.["location"])) ?? [];
  const object = await ctx.blobs.get(key);
  const text = Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString();
  expect(getRecords(text)).toHaveLength(ROWS + 1);
});

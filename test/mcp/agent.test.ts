import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFolder, whenStarted } from "../local/running.ts";
import { connectClient, createBearer } from "./client.ts";

const LAB = "lab.mailproof.test";

test("an agent finds the tools, verifies, follows a batch, and gets a paid repeat free", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const headers = createBearer(ready.live_key);
  const { client, call } = await connectClient(ready.mcp_url, { headers, era: "2026-07-28" });
  const creditsLeft = async () => (await call("get_account")).data.credits.available;

  const { tools } = await client.listTools();
  expect(client.getInstructions()).toContain("idempotency_key");
  const priced = tools.filter(({ description = "" }) => description.includes("Price: "));
  expect(priced.map(({ name }) => name)).toEqual([
    "verify_email",
    "verify_batch",
    "verify_file",
    "find_email",
    "check_domain",
  ]);
  const before = await creditsLeft();

  const ada = { email: `ada.lovelace@valid.${LAB}`, idempotency_key: "ada" };
  expect((await call("verify_email", ada)).data).toMatchObject({ status: "valid", cached: false });
  expect((await call("verify_email", ada)).data).toMatchObject({
    status: "valid",
    idempotent_replay: true,
    credits_used: 0,
  });
  expect(await creditsLeft()).toBe(before - 1);

  const list = {
    emails: [`nobody@valid.${LAB}`, `ada.lovelace@catchall.${LAB}`, `ada.lovelace@nullmx.${LAB}`],
    idempotency_key: "list",
  };
  const { data: job } = await call("verify_batch", list);
  expect(job).toMatchObject({ status: "processing", credits_used: 3 });
  const progress = async () =>
    (await call("get_job", { id: job.job_id, include_results: false })).data.status;
  while ((await progress()) === "processing") await setTimeout(50);
  const { data: done } = await call("get_job", { id: job.job_id });
  expect(done.results.map(({ status }: { status: string }) => status)).toEqual([
    "invalid",
    "catch_all",
    "invalid",
  ]);

  expect((await call("verify_batch", list)).data).toMatchObject({
    job_id: job.job_id,
    idempotent_replay: true,
    credits_used: 0,
  });
  expect(await creditsLeft()).toBe(before - 4);

  const { data: file } = await call("download_job", { id: job.job_id });
  const csv = await (await fetch(file.download_url)).text();
  expect(csv.split("\n").filter((line) => line.includes("@"))).toHaveLength(3);

  await client.close();
  const { screen } = await stop("SIGTERM");
  expect(screen).toContain(ready.mcp_url);
});

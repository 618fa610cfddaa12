import { expect, test } from "vitest";
import { describeInBrowser } from "./browser.ts";
import { callApi, createJob, waitForJob } from "./jobs.ts";

// Rows of a list that has ended are asked again, and slips are corrected: found by roles and labels alone, with few clicks.

const ZONE = "lab.mailproof.test";

describeInBrowser("rows asked again", ({ open }) => {
  test("the unknown rows are one click, with their price before it, and are charged once", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready } = opened;
    const emails = [`ada.lovelace@valid.${ZONE}`, `ada.lovelace@refused.${ZONE}`];
    const request = { emails, name: "Again", options: { max_wait_minutes: 0 } };
    const { job_id: job } = await callApi(opened, "POST /v1/verify/batch", request, "live_key");
    const client = (route: string) => callApi(opened, route, undefined, "live_key");
    while ((await client(`GET /v1/jobs/${job}`)).status !== "completed");
    const before = (await client("GET /v1/account")).credits;
    await page.goto(`${ready.base_url}/app/lists/${job}`);

    await page.getByRole("button", { name: "Verify 1 unknown again · 1 credit" }).dblclick();
    await page.getByText("1 row is verified again").waitFor();
    await page.getByText("1 row is verified again").waitFor({ state: "detached" });

    const { child_job_id, progress } = await client(`GET /v1/jobs/${job}`);
    expect(child_job_id).toBeUndefined();
    expect(progress).toMatchObject({ total: 2, valid: 1, unknown: 1 });
    const { credits } = await client("GET /v1/account");
    expect(credits.used - before.used).toBe(1);
  });

  test("a domain that was typed wrong is corrected by one click", async () => {
    const opened = await open({ path: "lists" });
    const { page, ready } = opened;
    const emails = ["ann@gmial.com", "bo@gmial.com", "cy@example.com"];
    const job = await createJob(opened, emails, "Slips");
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);

    const slips = page.getByRole("region", { name: "To correct" });
    await slips.getByRole("button", { name: /^Correct and verify/ }).click();
    await slips.waitFor({ state: "detached" });

    await page.getByRole("cell", { name: "ann@gmail.com" }).waitFor();
    expect(await page.getByRole("cell", { name: /gmial/ }).count()).toBe(0);
  });
});

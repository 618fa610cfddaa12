import { readFileSync } from "node:fs";
import type { GetUsageData } from "@mailproof/client";
import { createClient } from "@mailproof/client";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, saveDownload } from "./browser.ts";
import { createJob, waitForJob } from "./jobs.ts";

describeInBrowser("the screen Overview", ({ open }) => {
  test("the screen keeps a text that was typed before the account proves to be new", async () => {
    const { page } = await open({ key: "live", path: "usage" });
    let letUsageCome = () => {};
    const isTyped = new Promise<void>((resolve) => {
      letUsageCome = resolve;
    });
    await page.route("**/v1/account/usage**", async (route) => {
      await isTyped;
      await route.continue();
    });
    await page.getByRole("link", { name: "Overview" }).click();
    const field = page.getByLabel("Verify an address");
    await field.fill("ada.lovelace@valid.lab.mailproof.test");
    const firstSteps = page.getByRole("heading", { name: "Your first verdict" });
    expect(await firstSteps.count()).toBe(0);

    letUsageCome();
    await firstSteps.waitFor();
    expect(await field.inputValue()).toBe("ada.lovelace@valid.lab.mailproof.test");
    expect(await page.evaluate("document.activeElement.id")).toBe("quick-email");
  });

  test("a double click and a reload start one verification and charge once", async () => {
    const { page, readApi } = await open({ key: "live" });
    const readSpent = async () =>
      (await readApi<{ credits: { spent: number } }>("/v1/account")).credits.spent;
    const before = await readSpent();
    await page.getByLabel("Verify an address").fill("grace.hopper@valid.lab.mailproof.test");
    const entries = await page.evaluate("history.length");

    await page.getByRole("button", { name: "Verify", exact: true }).dblclick();
    await page.locator(".verdict").waitFor();
    await page.reload();
    await page.locator(".verdict").waitFor();

    expect((await readSpent()) - before).toBe(1);
    expect(await page.evaluate("history.length")).toBe(Number(entries) + 1);
  });

  test("the bars show this week's verdicts of the API's usage, and the week before behind them", async () => {
    const { page } = await open({ path: "usage" });
    const dayBefore = (days: number) =>
      new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    await page.route("**/v1/account/usage*", async (route) => {
      const response = await route.fetch();
      const { data, ...envelope } = (await response.json()) as { data: GetUsageData };
      const createDay = (date: string, valid: number, role: number) => ({
        ...data.totals,
        date,
        verdicts: { ...data.totals.verdicts, valid, role },
      });
      const days = [
        createDay(dayBefore(8), 4, 0),
        createDay(dayBefore(1), 5, 1),
        createDay(dayBefore(0), 2, 0),
      ];
      const totals = { ...data.totals, verdicts: { ...data.totals.verdicts, valid: 11, role: 1 } };
      await route.fulfill({ response, json: { ...envelope, data: { ...data, days, totals } } });
    });
    await page.getByRole("link", { name: "Overview" }).click();
    const chart = page.getByRole("region", { name: "This week" });
    await chart.locator("figure").waitFor();

    const titles = await chart.locator("g title").allTextContents();
    expect(titles.map((text) => text.split(": ")[1]).filter((text) => text !== "0")).toEqual([
      "5 valid, 1 role (4 in the period before)",
      "2 valid",
    ]);
    expect(await chart.locator(".before").count()).toBe(1);
    await chart.getByText("8 verdicts, 100% more than in the period before").waitFor();
    expect(await chart.locator(".stacked-bar li").allInnerTexts()).toEqual([
      "valid 7 87.5%",
      "role 1 12.5%",
    ]);
    await chart.getByText("Numbers").click();
    expect(await chart.locator("td.number").allTextContents()).toEqual(["5", "1", "2", "0"]);
  });

  test("the chart of a single day contains no bar", async () => {
    const opened = await open();
    await waitForJob(opened, await createJob(opened, ["valid@x.com"], "One day"));
    await opened.page.reload();
    const chart = opened.page.getByRole("region", { name: "This week" });
    await chart.getByText("Numbers").waitFor();

    expect(await chart.locator(".plot").count()).toBe(0);
  });

  test("eight visitors of a form neither hide a running list nor appear among the lists", async () => {
    const opened = await open({ key: "live" });
    const { page, ready } = opened;
    const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });
    const { job_id } = await client.verifyBatch({
      emails: ["ada.hidden@greylist.lab.mailproof.test"],
      name: "Long list",
    });
    for (let n = 1; n <= 10; n++)
      await client.verifyForm({ email: `visitor${n}@valid.lab.mailproof.test` });

    await page.reload();
    await page.getByRole("region", { name: "Running lists" }).getByText("Long list").waitFor();
    await page.getByRole("link", { name: "Lists", exact: true }).click();
    await page.getByRole("link", { name: "Long list" }).waitFor();
    expect(await page.getByText("One address of", { exact: false }).count()).toBe(0);
    await page.getByRole("link", { name: "Single addresses" }).click();
    await page.getByText("One address of", { exact: false }).first().waitFor();
    await client.cancelJob({ id: job_id });
  });

  test("a list whose addresses may not be queued is shown as running", async () => {
    const opened = await open();
    const { page } = opened;
    await createJob(opened, ["greylisted@x.com"], "Half sent");
    const as = async (status: string, reply: string) =>
      page.route(`**/v1/jobs?*status=${status}*`, async (route) => {
        const url = route.request().url().replace(`status=${status}`, `status=${reply}`);
        const response = await route.fetch({ url });
        const text = (await response.text()).replaceAll('"processing"', '"enqueue_unknown"');
        await route.fulfill({ response, body: text });
      });
    await as("processing", "failed");
    await as("enqueue_unknown", "processing");

    await page.reload();

    const running = page.getByRole("region", { name: "Running lists" });
    await running.getByText("Half sent").waitFor();
    expect(await running.getByRole("listitem").count()).toBeGreaterThan(0);
  });

  test("the last list's card shows the number of ready addresses and downloads them", async () => {
    const opened = await open();
    const { page } = opened;
    const job = await createJob(opened, ["valid@x.com", "ok@x.com", "invalid@x.com"], "Spring");
    await waitForJob(opened, job);
    await page.reload();
    const last = page.getByRole("region", { name: "Last list" });
    await last.getByText("2 of 3 addresses are ready for your next mail.").waitFor();

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      last.getByRole("button", { name: "Download 2" }).click(),
    ]);

    const rows = readFileSync(await saveDownload(download), "utf8")
      .trim()
      .split("\n");
    expect(rows.length).toBe(3);
  });

  test("the shown balance, running lists, domains and decisions equal the API's", async () => {
    const opened = await open({ key: "live" });
    const { page, ready, readApi } = opened;
    const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });
    await client.checkDomain({ domain: "valid.lab.mailproof.test" });
    const { job_id } = await client.verifyBatch({
      emails: ["ada.lovelace@valid.lab.mailproof.test", "ada.overview@greylist.lab.mailproof.test"],
      name: "Newsletter",
    });
    const { credits } = await readApi<{ credits: { available: number } }>("/v1/account");
    const { checks } = await readApi<{ checks: { grade: string; score: number }[] }>(
      "/v1/deliverability/checks",
    );

    await page.reload();
    await page.getByRole("heading", { name: "Newsletter" }).waitFor();

    const balance = page.getByRole("region", { name: "Balance" });
    expect(await balance.locator(".figure").textContent()).toBe(
      `${new Intl.NumberFormat("en").format(credits.available)} credits`,
    );
    await page.getByText("Lasts more than a year at the rate of today.").waitFor();
    expect(await page.locator(".domain-list li").textContent()).toContain(checks[0]?.grade);
    await page.getByText(`valid.lab.mailproof.test has the grade ${checks[0]?.grade}`).waitFor();
    await page.getByText("1 row will be retried at", { exact: false }).waitFor();
    await checkScreen(opened, "overview");
    await client.cancelJob({ id: job_id });
    // It is read again by itself.
    await page.getByRole("region", { name: "Running lists" }).waitFor({ state: "detached" });
  });
});

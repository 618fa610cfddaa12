import type { GetUsageData } from "@mailproof/client";
import { createClient } from "@mailproof/client";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser } from "./browser.ts";
import { createJob, waitForJob } from "./jobs.ts";

const toNumber = (text = "0"): number => Number(text.replaceAll(",", ""));

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

  test("the bars show the verdicts of the API's usage by status, and the table shows equal numbers", async () => {
    const opened = await open();
    const { page, readApi } = opened;
    const job = await createJob(
      opened,
      ["valid@x.com", "also-valid@x.com", "invalid@x.com", "catch_all@x.com", "role@x.com"],
      "Verdicts",
    );
    await waitForJob(opened, job);
    await page.reload();
    const chart = page.getByRole("region", { name: "Verdicts of 30 days" });
    await chart.locator("figure").waitFor();
    const { totals } = await readApi<GetUsageData>("/v1/account/usage");
    const counted = Object.entries(totals.verdicts).filter(([, count]) => count > 0);
    expect(counted.length).toBeGreaterThan(2);

    const titles = await chart.locator("g title").allTextContents();
    const bars: Record<string, number> = {};
    for (const part of titles.flatMap((text) => text.split(": ")[1]?.split(", ") ?? [])) {
      const [count = "", status = ""] = part.split(" ");
      if (status !== "") bars[status] = (bars[status] ?? 0) + toNumber(count);
    }
    await chart.getByText("Numbers").click();
    const heads = await chart.locator("th.number").allTextContents();
    const cells = await chart.locator("td.number").allTextContents();
    const table = heads.map((status, column) => [
      status,
      cells
        .filter((_, at) => at % heads.length === column)
        .reduce((sum, text) => sum + toNumber(text), 0),
    ]);

    expect(bars).toEqual(
      Object.fromEntries(counted.map(([status, count]) => [status.replace("_", "-"), count])),
    );
    expect(Object.fromEntries(table)).toEqual(bars);
    expect(await chart.locator("svg").first().getAttribute("aria-label")).toContain("in 30 days");
  });

  test("the shown balance, running lists, domains and failing webhooks equal the API's", async () => {
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

    expect(await page.locator(".figure").textContent()).toBe(
      `${new Intl.NumberFormat("en").format(credits.available)} credits`,
    );
    await page.getByText("Lasts more than a year at the rate of today.").waitFor();
    expect(await page.locator(".domain-list li").textContent()).toContain(checks[0]?.grade);
    expect(await page.getByText("You have no webhooks.").isVisible()).toBe(true);
    await page.getByText("1 row will be retried at", { exact: false }).waitFor();
    await checkScreen(opened, "overview");
    await client.cancelJob({ id: job_id });
    // It is read again by itself.
    await page.getByText("No list is running.").waitFor();
  });
});

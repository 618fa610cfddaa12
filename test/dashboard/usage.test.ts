import { readFileSync } from "node:fs";
import {
  createClient,
  type GetAccountData,
  type GetUsageData,
  type ListLedgerEntriesData,
} from "@mailproof/client";
import { parse } from "csv-parse/sync";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { formatDay } from "../../packages/dashboard/src/format.ts";
import { checkScreen, describeInBrowser, type OpenedPage, saveDownload } from "./browser.ts";
import { checkStackedTable } from "./server.ts";

const ZONE = "lab.mailproof.test";

const createLiveClient = ({ ready }: Pick<OpenedPage, "ready">) =>
  createClient({ baseUrl: ready.base_url, key: ready.live_key });

const toNumber = (text: string | null): number =>
  Number((text ?? "").replaceAll(",", "").replace("−", "-"));

const readNumbers = async (cells: Locator): Promise<number[]> =>
  (await cells.allTextContents()).map(toNumber);

const add = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** The rows of the file that a button saves. */
const saveCsv = async (page: Page, of: string): Promise<Record<string, string>[]> => {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: `${of} as CSV` }).click();
  return parse(readFileSync(await saveDownload(await download)), { columns: true });
};

/** One address, a cached one, a batch of two, and a check. */
const useCredits = async (opened: OpenedPage): Promise<void> => {
  const client = createLiveClient(opened);
  for (let time = 0; time < 2; time++)
    await client.verifyEmail({ email: `ada.lovelace@valid.${ZONE}` });
  const { job_id } = await client.verifyBatch({
    emails: [`ada.lovelace@valid.${ZONE}`, `nobody@valid.${ZONE}`],
    name: "Autumn",
  });
  await client.waitForJob({ id: job_id });
  await client.checkDomain({ domain: `valid.${ZONE}` });
  // One address is held until its next attempt, and the credit of another one returns.
  await client.verifyEmail({ email: `ada.usage@greylist.${ZONE}` });
  const cancelled = await client.verifyBatch({ emails: [`grace.usage@greylist.${ZONE}`] });
  await client.cancelJob({ id: cancelled.job_id });
};

describeInBrowser("the screen Usage", ({ open }) => {
  test("the shown sum of granted − used + refunded − held equals the balance and the API's figures", async () => {
    const opened = await open({ key: "live", path: "usage" });
    await useCredits(opened);
    await opened.page.reload();
    await opened.page.locator(".sum dd").first().waitFor();

    const { credits } = await opened.readApi<GetAccountData>("/v1/account");
    const terms = await readNumbers(opened.page.locator(".sum dd"));
    const [granted = 0, used = 0, refunded = 0, held = 0, balance = 0] = terms;

    expect(terms).toEqual([
      credits.granted,
      credits.used,
      credits.refunded,
      credits.held,
      credits.available,
    ]);
    for (const term of [used, refunded, held]) expect(term).toBeGreaterThan(0);
    expect(granted - used + refunded - held).toBe(balance);
    await checkScreen(opened, "usage");
  });

  test("the days, the operations, the verdicts and their files equal the API's usage", async () => {
    const { page, readApi } = await open({ key: "live", path: "usage" });
    await page.locator(".day-chart").waitFor();
    const { totals, days } = await readApi<GetUsageData>("/v1/account/usage");

    const operations = page.getByRole("region", { name: "By operation" });
    const verdicts = page.getByRole("region", { name: "Verdicts" });

    expect(add(await readNumbers(page.locator(".day-chart + details td.number")))).toBe(
      totals.credits_used,
    );
    expect(add(await readNumbers(operations.locator("tbody td:nth-child(2)")))).toBe(
      totals.credits_used,
    );
    expect(await operations.locator("tbody tr").count()).toBe(totals.by_operation.length);
    expect(add(await readNumbers(verdicts.locator("li b")))).toBe(
      add(Object.values(totals.verdicts)),
    );

    const credits = await saveCsv(page, "Credits per day");
    expect(credits.map(({ date, credits_used }) => [date, Number(credits_used)])).toEqual(
      days.map(({ date, credits_used }) => [date, credits_used]),
    );
    const used = await saveCsv(page, "Credits by operation");
    expect(add(used.map(({ credits_used }) => Number(credits_used)))).toBe(totals.credits_used);
    const counted = await saveCsv(page, "Verdicts per day");
    expect(add(counted.map(({ valid }) => Number(valid)))).toBe(totals.verdicts.valid);
  });

  test("the ledger lists every entry page by page, and its file contains all of them", async () => {
    const opened = await open({ key: "live", path: "usage" });
    const { page, readApi } = opened;
    const client = createLiveClient(opened);
    for (let batch = 0; batch < 60; batch++)
      await client.verifyBatch({ emails: [`${batch}@valid.${ZONE}`] });
    await page.reload();
    const rows = page.locator(".ledger tbody tr");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(50);

    const saved = await saveCsv(page, "The ledger");
    await page.getByRole("button", { name: "Show earlier entries" }).click();
    await rows.nth(50).waitFor();
    const { entries } = await readApi<ListLedgerEntriesData>("/v1/account/ledger?limit=200");
    const { credits } = await readApi<GetAccountData>("/v1/account");

    expect(entries.length).toBeGreaterThan(60);
    expect(await rows.count()).toBe(entries.length);
    const changes = await readNumbers(rows.locator("td:nth-child(2)"));
    expect(add(changes)).toBe(credits.available);
    expect(saved.map(({ entry_id }) => entry_id)).toEqual(entries.map(({ entry_id }) => entry_id));
  });

  test("the chart's table shows each day with used credits that the API returns", async () => {
    const { page, readApi } = await open({ key: "live", path: "usage" });
    const chart = page.locator(".day-chart + details");
    await chart.locator("summary").focus();
    await page.keyboard.press("Enter");
    await chart.locator("tbody tr").first().waitFor();

    const { days } = await readApi<GetUsageData>("/v1/account/usage");
    const rows = await chart
      .locator("tbody tr")
      .evaluateAll((all) => all.map((row: any) => [...row.cells].map((cell) => cell.textContent)));
    expect((rows as string[][]).map(([date, used]) => [date, toNumber(used ?? "")])).toEqual(
      days.filter((day) => day.credits_used > 0).map((day) => [day.date, day.credits_used]),
    );
  });

  test("an entry of the ledger on a phone needs no sideways scrolling", async () => {
    const { page } = await open({ key: "live", path: "usage" });
    await page.locator(".ledger tbody tr").first().waitFor();

    expect(await page.locator("table.row-lines").count()).toBe(1);
    await checkStackedTable(page, [
      "Movement",
      "Balance change",
      "Held change",
      "For",
      "Operation",
    ]);
  });

  test("an entry of the ledger links to its list", async () => {
    const { page } = await open({ key: "live", path: "usage" });
    const link = page.locator(".ledger a").first();

    const id = await link.locator("code").getAttribute("title");

    expect(await link.getAttribute("href")).toBe(`/app/lists/${id}`);
  });

  test("the URL contains the period, a reload keeps it, and Back returns to the previous one", async () => {
    const { page } = await open({ key: "live", path: "usage" });
    const waitForFirstDay = (days: number) => {
      const day = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
      return page.locator(".day-chart").getByText(formatDay(day), { exact: true }).waitFor();
    };
    await waitForFirstDay(30);

    await page.getByRole("link", { name: "7 days" }).click();
    await waitForFirstDay(7);
    expect(new URL(page.url()).searchParams.get("days")).toBe("7");
    await page.reload();
    await waitForFirstDay(7);
    await page.goBack();

    await waitForFirstDay(30);
  });

  test("a test key sees its verdicts and an empty ledger", async () => {
    const { page } = await open({ path: "usage" });

    await page.getByText("A test key moves no credits, so its ledger is empty.").waitFor();

    expect(await page.locator(".sum .result dd").textContent()).toBe("1,000");
  });
});

import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, type OpenedPage, saveDownload } from "./browser.ts";
import { createFileJob, waitForJob } from "./jobs.ts";

// What a person with a mailing does with a list that is verified, by what is seen and read aloud: roles and labels, no other
// marks. Each click and each Tab is counted.

const NAMES = ["Ada", "Alan", "Grace", "Edsger"];

/** 300 rows: addresses to send to, to be careful with and not to send to, at three domains. */
const LIST = `Name;E-Mail;City\n${Array.from({ length: 300 }, (_, n) => {
  const word = ["valid", "invalid", "catch_all", "full", "valid"][n % 5];
  return `${NAMES[n % 4]};${word}+${n}@${["shop", "other", "news"][n % 3]}.com;Köln`;
}).join("\n")}\n`;

const countPresses = (page: Page) => {
  const counted = { clicks: 0, tabs: 0 };
  return {
    counted,
    click: async (target: Locator): Promise<void> => {
      counted.clicks += 1;
      await target.click();
    },
    tab: async (): Promise<string> => {
      counted.tabs += 1;
      await page.keyboard.press("Tab");
      return page.evaluate("document.activeElement.textContent");
    },
  };
};

const getFilter = (page: Page, facet: string, name: RegExp): Locator =>
  page.getByRole("region", { name: facet, exact: true }).getByRole("button", { name });

const getTable = (page: Page): Locator => page.getByRole("table", { name: /^Rows of/ });

const readRowCount = async (page: Page): Promise<number> =>
  Number(await getTable(page).getAttribute("aria-rowcount")) - 1;

describeInBrowser("the tasks of a person with a list", ({ open }) => {
  const openList = async (): Promise<OpenedPage & { readonly job: string }> => {
    const opened = await open({ path: "lists" });
    const job = await createFileJob(opened, LIST);
    await waitForJob(opened, job);
    await opened.page.goto(`${opened.ready.base_url}/app/lists/${job}`);
    await opened.page.getByRole("button", { name: "Download 300 rows" }).waitFor();
    return { ...opened, job };
  };

  test("the rows to send to are found and downloaded with at most 3 clicks", async () => {
    const { page } = await openList();
    const { counted, click } = countPresses(page);

    await click(getFilter(page, "Send", /^yes/));
    const button = page.getByRole("button", { name: "Download 120 rows" });
    await button.waitFor();
    const [saved] = await Promise.all([page.waitForEvent("download"), click(button)]);

    const [head = "", ...rows] = readFileSync(await saveDownload(saved), "utf8")
      .replace(/^\uFEFF/, "")
      .trim()
      .split(/\r?\n/);
    expect(counted.clicks).toBeLessThanOrEqual(3);
    expect(head).toMatch(/^Name;E-Mail;City;email;status;send;/);
    expect(rows).toHaveLength(120);
    expect(rows.filter((row) => !row.includes(";valid;yes;"))).toEqual([]);
  });

  test("the first row is reached with at most 10 presses of Tab", async () => {
    const { page } = await openList();
    const { counted, tab } = countPresses(page);

    expect(await tab()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await tab()).toBe("Skip to the rows");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("valid+0@shop.com");
    await page.keyboard.press("Enter");

    await page.getByRole("dialog", { name: "Row 2" }).waitFor();
    expect(counted.tabs).toBeLessThanOrEqual(10);
  });

  test("two filters are a link that shows the same rows to another person", async () => {
    const { page } = await openList();
    const { counted, click } = countPresses(page);

    await click(getFilter(page, "Send", /^careful/));
    await click(getFilter(page, "Domain", /^shop\.com/));
    await page.getByRole("button", { name: "Download 40 rows" }).waitFor();
    const shared = new URL(page.url());

    expect(counted.clicks).toBeLessThanOrEqual(2);
    expect(shared.search).toBe("?filter=send:careful,domain:shop.com");
    const other = await open({ path: shared.pathname.replace(/^\/app\//, "") + shared.search });
    await other.page.getByRole("button", { name: "Download 40 rows" }).waitFor();
    expect(await readRowCount(other.page)).toBe(40);
    for (const name of ["Send: careful", "Domain: shop.com"])
      expect(await other.page.getByRole("button", { name }).count()).toBe(1);
  });
});

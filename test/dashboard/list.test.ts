import { openAsBlob, readFileSync } from "node:fs";
import { readSpreadsheet } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, saveDownload } from "./browser.ts";
import { createFileJob, createJob, readJob, waitForJob } from "./jobs.ts";

const EMAILS = [
  ...Array.from({ length: 40 }, (_, n) => `valid+${n}@shop.com`),
  ...Array.from({ length: 20 }, (_, n) => `invalid+${n}@shop.com`),
  ...Array.from({ length: 10 }, (_, n) => `catch_all+${n}@other.com`),
  "ann@disposable.x.com",
  "info@other.com",
  "spam_trap@x.com",
  "risky@x.com",
  "full@x.com",
];

const readRowCount = async (page: Page): Promise<number> =>
  Number(await page.getByRole("table", { name: /^Rows of/ }).getAttribute("aria-rowcount")) - 1;

const waitForRows = (page: Page, rows: number) =>
  page
    .locator(
      `table[aria-rowcount="${rows + 1}"] tbody tr[aria-busy="false"], table[aria-rowcount="1"]`,
    )
    .first()
    .waitFor({ state: "attached" });

describeInBrowser("a list", ({ open }) => {
  const openList = async (path = "", emails: readonly string[] = EMAILS) => {
    const opened = await open({ path: "lists" });
    const job = await createJob(opened, emails, "Customers");
    const state = await waitForJob(opened, job);
    await opened.page.goto(`${opened.ready.base_url}/app/lists/${job}${path}`);
    await waitForRows(opened.page, emails.length);
    return { ...opened, job, state };
  };

  test("the counts of its bars, its table and the API agree, and a bar filters the table", async () => {
    const { page, job, state, ready } = await openList();
    const titles = ["Statuses", "Reasons", "Scores", "Providers"] as const;
    const shown: Record<string, number[]> = {};

    for (const title of titles) {
      shown[title] = [];
      const bars = page.getByRole("region", { name: title, exact: true }).getByRole("button");
      for (const bar of await bars.all()) {
        const count = Number.parseInt(await bar.locator(".number").innerText(), 10);
        shown[title].push(count);
        await bar.click();
        await waitForRows(page, count);
        const filter = new URL(page.url()).searchParams.get("filter") ?? "";
        expect(filter).not.toBe("");
        const found = await readJob({ ready }, job, new URLSearchParams({ filter }).toString());
        expect([filter, found.matching_rows]).toEqual([filter, count]);
        await bar.click();
        await waitForRows(page, EMAILS.length);
      }
    }

    const { statuses, reasons, scores, providers } = state.summary;
    const present = (counts: Record<string, number>) =>
      Object.values(counts).filter((count) => count > 0);
    expect(shown).toEqual({
      Statuses: present(statuses),
      Reasons: present(reasons),
      Scores: scores.map(({ count }: { count: number }) => count),
      Providers: present(providers),
    });
    expect(present(statuses).reduce((sum, count) => sum + count, 0)).toBe(EMAILS.length);
  });

  test("it is right for those who cannot see it, at each width, light and dark", async () => {
    const opened = await openList();

    await checkScreen(opened, "list");
    expect(await readRowCount(opened.page)).toBe(EMAILS.length);
  });

  test("a bar says how many rows match where the table is below the window, and leads to them", async () => {
    const { page } = await openList();
    await page.setViewportSize({ width: 375, height: 812 });
    const bar = page.getByRole("region", { name: "Statuses" }).getByRole("button").nth(1);
    await bar.click();
    await waitForRows(page, 20);

    const matching = page.getByText("20 rows match");
    const box = await matching.boundingBox();
    expect((box?.y ?? 812) + (box?.height ?? 0)).toBeLessThan(812);
    await matching.getByRole("button", { name: "See the rows" }).click();
    await expect
      .poll(async () => (await page.getByRole("heading", { name: "Rows" }).boundingBox())?.y)
      .toBeLessThan(200);
    await page.getByRole("button", { name: "Show all rows" }).click();
    await matching.waitFor({ state: "detached" });
  });

  test("filter and order are in the address; the text that is searched is not", async () => {
    const { page } = await openList();
    await page
      .getByRole("region", { name: "Statuses" })
      .getByRole("button", { name: "invalid" })
      .click();
    await page.getByRole("button", { name: "Address", exact: false }).first().click();
    await page.getByLabel("Address contains").fill("+7@");
    await waitForRows(page, 1);

    expect(page.url()).toContain("filter=status");
    expect(page.url()).toContain("sort=email");
    expect(page.url()).not.toContain("%2B7");
    await page.reload();
    await waitForRows(page, 20);
    expect(
      await page.getByRole("columnheader", { name: "Address" }).getAttribute("aria-sort"),
    ).toBe("ascending");
  });

  test("a row opens its evidence beside the table, and Esc returns to it", async () => {
    const { page } = await openList();
    const row = page.getByRole("button", { name: "valid+3@shop.com", exact: true });
    await row.click();
    const drawer = page.getByRole("dialog", { name: "Row 4" });

    await drawer.getByRole("heading", { name: "Evidence" }).waitFor();
    expect(await drawer.innerText()).toContain("valid+3@shop.com");
    expect(page.url()).toContain("row=4");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await expect.poll(() => page.url()).not.toContain("row=");
    expect(await row.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(
      true,
    );
  });

  const download = async (page: Page, rows: string, file: string) => {
    await page.getByLabel("Which rows").selectOption(rows);
    await page.getByLabel("As", { exact: true }).selectOption(file);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    const path = await saveDownload(saved);
    return { name: saved.suggestedFilename(), path };
  };

  const readLines = ({ path }: { path: string }): readonly string[] =>
    readFileSync(path, "utf8").trim().split(/\r?\n/);

  test("all rows, those that are safe to send and those of a status are downloaded", async () => {
    const { page } = await openList();

    const all = await download(page, "all", "csv");
    const safe = await download(page, "safe_to_send", "semicolon");
    const traps = await download(page, "spam_trap", "csv");

    expect(all.name).toMatch(/\.csv$/);
    expect(readLines(all)).toHaveLength(EMAILS.length + 1);
    expect(readLines(safe)).toHaveLength(41);
    expect(readLines(safe)[0]).toContain(";");
    expect(readLines(traps)).toHaveLength(2);
  });

  test("the rows that are safe to send are downloaded as a spreadsheet", async () => {
    const { page } = await openList();

    const { name, path } = await download(page, "safe_to_send", "xlsx");

    expect(name).toMatch(/\.xlsx$/);
    const rows: (readonly string[])[] = [];
    await readSpreadsheet(await openAsBlob(path), (cells) => void rows.push(cells));
    expect(rows).toHaveLength(41);
  });

  test("what a running list has so far is downloaded, and every row of it", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready } = opened;
    const job = await createJob(
      opened,
      ["ada.lovelace@valid.lab.mailproof.test", "ada.list@greylist.lab.mailproof.test"],
      "Slow",
      "live_key",
    );
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByText("1 of its rows have a result so far").waitFor();

    await page.getByText("1 row will be retried at", { exact: false }).waitFor();
    const soFar = await download(page, "all", "csv");
    const every = await download(page, "list", "csv");

    expect(readLines(soFar)).toHaveLength(2);
    expect(readLines(every)).toHaveLength(3);
  });

  test("a running list is cancelled after a question, and then deleted", async () => {
    const opened = await open({ path: "lists" });
    const { page, ready } = opened;
    const job = await createJob(
      opened,
      ["ann@x.com", ...Array.from({ length: 5 }, (_, n) => `unknown+${n}@x.com`)],
      "Wrong",
    );
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByRole("button", { name: "Cancel list" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel list" }).click();
    await page.getByText("cancelled", { exact: false }).first().waitFor();

    await page.getByRole("button", { name: "Delete list" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete list" }).click();
    await page.getByRole("heading", { name: "Lists", level: 1 }).waitFor();
    expect(
      (
        await fetch(`${ready.base_url}/v1/jobs/${job}`, {
          headers: { "x-api-key": ready.test_key },
        })
      ).status,
    ).toBe(404);
  });

  test("a list that is cancelled says how many credits it returned, and the balance has them", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready, readApi } = opened;
    const at = "greylist.lab.mailproof.test";
    const emails = [`grace.list@${at}`, `alan.list@${at}`];
    const job = await createJob(opened, emails, "Waiting", "live_key");
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByText("2 rows will be retried at", { exact: false }).waitFor();

    await page.getByRole("button", { name: "Cancel list" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 addresses have no result yet.", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Cancel list" }).click();
    await page.getByText("2 credits refunded", { exact: false }).waitFor();

    const { credits } = await readApi<any>("/v1/account");
    const balance = new Intl.NumberFormat("en").format(credits.available);
    await page.locator(".balance").getByText(balance).waitFor();
    expect(credits.held).toBe(0);
  });

  test("before the first result it says so in each part, and no bar has a zero", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready } = opened;
    const emails = ["edsger.list@greylist.lab.mailproof.test"];
    const job = await createJob(opened, emails, "Empty", "live_key");
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByRole("heading", { name: "Rows" }).waitFor();

    for (const title of ["Statuses", "Reasons", "Scores", "Providers"])
      await page
        .getByRole("region", { name: title, exact: true })
        .getByText("No results yet.")
        .waitFor();
    expect(await page.locator(".bars li").count()).toBe(0);
    await page.locator(".list-rows").getByText("No results yet.").waitFor();
    await page.getByLabel("Address contains").fill("nothing");
    await page.locator(".list-rows").getByText("No rows match.", { exact: false }).waitFor();
  });

  test("the printed page is a summary without the table", async () => {
    const { page } = await openList();
    await page.emulateMedia({ media: "print" });

    expect(await page.getByRole("table", { name: /^Rows of/ }).isVisible()).toBe(false);
    expect(await page.getByRole("heading", { name: "Statuses" }).isVisible()).toBe(true);
    expect(await page.getByRole("navigation").count()).toBe(0);
    await page.screenshot({ path: ".cache/dashboard-pictures/list-print.png", fullPage: true });
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g)).toHaveLength(1);
  });

  test("on a phone a row is its address and its status, without scrolling sideways", async () => {
    const opened = await open({ path: "lists", width: 375, colorScheme: "dark" });
    const { page, ready } = opened;
    const job = await createJob(opened, EMAILS, "Customers");
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await waitForRows(page, EMAILS.length);

    const table = page.getByRole("region", { name: /^Rows of/ });
    expect(await page.getByRole("columnheader").allInnerTexts()).toEqual(["ADDRESS", "STATUS"]);
    expect(await table.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
    await checkScreen(opened, "list-phone", [375]);
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "Reason" }).check();
    await page.getByRole("checkbox", { name: "Score" }).check();
    expect(await page.getByRole("columnheader").count()).toBe(4);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
  });

  test("a question about a list keeps the focus, Esc answers no, and the focus returns", async () => {
    const { page, job, ready } = await openList();
    const button = page.getByRole("button", { name: "Delete list" });
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Delete list" });
    await dialog.waitFor();

    for (let presses = 0; presses < 5; presses++) {
      await page.keyboard.press("Tab");
      expect(
        await page.evaluate(
          "document.activeElement === document.body || document.querySelector('dialog[open]').contains(document.activeElement)",
        ),
      ).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });

    expect(await button.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
    expect((await readJob({ ready }, job)).status).toBe("completed");
  });

  test("of 100,000 rows fewer than sixty are in the page, from the first to the last", {
    timeout: 240_000,
  }, async () => {
    const opened = await open({ path: "lists" });
    const { page, ready } = opened;
    const content = `email\n${Array.from({ length: 100_000 }, (_, n) => `ann${n}@x.com`).join("\n")}\n`;
    const job = await createFileJob(opened, content);
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await waitForRows(page, 100_000);
    const table = page.getByRole("region", { name: /^Rows of/ });

    expect(await readRowCount(page)).toBe(100_000);
    expect(await page.locator("tr").count()).toBeLessThan(60);
    await table.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByRole("button", { name: "ann99999@x.com", exact: true }).waitFor();
    expect(await page.locator("tbody tr").last().getAttribute("aria-rowindex")).toBe("100001");
    expect(await page.locator("tr").count()).toBeLessThan(60);
  });
});

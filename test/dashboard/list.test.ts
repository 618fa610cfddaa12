import { openAsBlob, readFileSync } from "node:fs";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, saveDownload, takePicture } from "./browser.ts";
import { callApi, createFileJob, createJob, readJob, waitForJob } from "./jobs.ts";

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

const FACETS = ["Send", "Status", "Why", "Score", "Provider", "Domain"] as const;

const present = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

const readRowCount = async (page: Page): Promise<number> =>
  Number(await page.getByRole("table", { name: /^Rows of/ }).getAttribute("aria-rowcount")) - 1;

const waitForRows = (page: Page, rows: number) =>
  page
    .locator(
      `table[aria-rowcount="${rows + 1}"] tbody tr[aria-busy="false"], table[aria-rowcount="1"]`,
    )
    .first()
    .waitFor({ state: "attached" });

describeInBrowser("the screen of a list", ({ open }) => {
  const openList = async (path = "", emails: readonly string[] = EMAILS) => {
    const opened = await open({ path: "lists" });
    const job = await createJob(opened, emails, "Customers");
    const state = await waitForJob(opened, job);
    await opened.page.goto(`${opened.ready.base_url}/app/lists/${job}${path}`);
    if (!path.includes("filter")) await waitForRows(opened.page, emails.length);
    return { ...opened, job, state };
  };

  test("the counts of filters, table and API agree, and each facet filters the table", async () => {
    const { page, job, state, ready } = await openList();
    const shown: Record<string, Record<string, number>> = {};
    await page.getByRole("button", { name: /^\d more/ }).click();

    for (const title of FACETS) {
      const own: Record<string, number> = {};
      shown[title] = own;
      const values = page
        .getByRole("region", { name: title, exact: true })
        .locator("button[aria-pressed]");
      const all = await values.all();
      for (const value of all) {
        const [, code = "", count = ""] =
          title === "Score"
            ? (/^(.+): ([\d,]+) rows?$/.exec((await value.getAttribute("title")) ?? "") ?? [])
            : ["", await value.getAttribute("title"), await value.locator(".number").innerText()];
        own[code ?? ""] = Number(count);
        // One rule for all values of a facet.
        if (value !== all[0] && value !== all.at(-1)) continue;
        await value.click();
        await waitForRows(page, Number(count));
        const filter = new URL(page.url()).searchParams.get("filter") ?? "";
        expect(filter).not.toBe("");
        const found = await readJob({ ready }, job, new URLSearchParams({ filter }).toString());
        expect([filter, found.matching_rows]).toEqual([filter, Number(count)]);
        // What is chosen keeps its number.
        expect(await value.getAttribute("aria-pressed")).toBe("true");
        await value.click();
        await waitForRows(page, EMAILS.length);
      }
    }

    const { statuses, reasons, scores, providers, top_domains } = state.summary;
    expect(shown).toEqual({
      Send: { yes: 40, careful: 13, no: 22 },
      Status: present(statuses),
      Why: present(reasons),
      Score: Object.fromEntries(scores.map(({ from, to, count }: any) => [`${from}–${to}`, count])),
      Provider: present(providers),
      Domain: Object.fromEntries(top_domains.map(({ domain, count }: any) => [domain, count])),
    });
  });

  test("two filters show the matching rows, and every other value shows its remaining count", async () => {
    const { page } = await openList();
    const press = (facet: string, name: RegExp) =>
      page.getByRole("region", { name: facet, exact: true }).getByRole("button", { name });
    await press("Send", /^careful/).click();
    await waitForRows(page, 13);
    await press("Domain", /^other\.com/).click();
    await waitForRows(page, 11);

    // Of other.com: ten of catch-all and one role; nothing to send to, so "yes" would leave nothing.
    await expect.poll(() => press("Send", /^yes/).innerText()).toMatch(/\b0$/);
    expect(await press("Status", /^catch-all/).innerText()).toMatch(/\b10$/);
    expect(await press("Domain", /^shop\.com/).innerText()).toMatch(/\b0$/);
    await page.getByRole("button", { name: "Send: careful, remove this filter" }).click();
    await waitForRows(page, 11);
    await page.getByRole("button", { name: "Show all rows" }).click();
    await waitForRows(page, EMAILS.length);
  });

  test("the list is accessible at each width, light and dark", async () => {
    const opened = await openList();

    await checkScreen(opened, "list");
    expect(await readRowCount(opened.page)).toBe(EMAILS.length);
  });

  test("the screen shows a row without scrolling, scrolls only the table, and uses a sheet on a phone", async () => {
    const opened = await openList();
    const { page } = opened;
    for (const [width, height] of [
      [1280, 800],
      [375, 812],
    ] as const) {
      await page.setViewportSize({ width, height });
      const box = await page.locator("tbody tr").first().boundingBox();
      expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThan(height);
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBe(height);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }

    await page.getByRole("button", { name: "Filter", exact: true }).click();
    const sheet = page.getByRole("dialog", { name: "Filter" });
    await sheet.getByRole("button", { name: /^invalid/ }).click();
    await checkScreen(opened, "list-filters", [375]);
    await sheet.getByRole("button", { name: "Show 20 rows" }).click();
    await sheet.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Filter · 1" }).waitFor();
    expect(await readRowCount(page)).toBe(20);
  });

  test("the URL contains the list's filter and order, and not the searched text", async () => {
    const { page } = await openList();
    await page
      .getByRole("region", { name: "Status" })
      .getByRole("button", { name: "invalid" })
      .click();
    await page.getByRole("columnheader", { name: "Address" }).getByRole("button").click();
    await page.getByLabel("Search addresses").fill("+7@");
    await waitForRows(page, 1);

    expect(page.url()).toContain("filter=status:invalid");
    expect(page.url()).toContain("sort=email");
    expect(page.url()).not.toContain("%2B7");
    await page.reload();
    await waitForRows(page, 20);
    expect(
      await page.getByRole("columnheader", { name: "Address" }).getAttribute("aria-sort"),
    ).toBe("ascending");
  });

  test("two skip links lead from the top of the page to the first row", async () => {
    const { page } = await openList();
    const tab = async (): Promise<string> => {
      await page.keyboard.press("Tab");
      return page.evaluate("document.activeElement.textContent");
    };

    expect(await tab()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await tab()).toBe("Skip to the rows");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("valid+0@shop.com");
    await page.keyboard.press("Enter");

    await page.getByRole("dialog", { name: "Row 1" }).waitFor();
  });

  test("a row opens its evidence beside the table, and Esc returns to the row", async () => {
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

  const save = async (page: Page, act: () => Promise<void>) => {
    const [saved] = await Promise.all([page.waitForEvent("download"), act()]);
    return { name: saved.suggestedFilename(), path: await saveDownload(saved) };
  };

  const saveAs = (page: Page, file: string) =>
    save(page, async () => {
      await page.getByRole("button", { name: "Download as" }).click();
      await page.getByRole("button", { name: file }).click();
    });

  const readLines = ({ path }: { path: string }): readonly string[] =>
    readFileSync(path, "utf8").trim().split(/\r?\n/);

  test("the download button writes the shown rows and states their number", async () => {
    const { page } = await openList("?filter=send:careful,domain:other.com");
    await page.getByLabel("Search addresses").fill("catch_all+1");
    await waitForRows(page, 1);

    const some = await save(page, () =>
      page.getByRole("button", { name: "Download 1 row" }).click(),
    );
    await page.getByRole("button", { name: "Show all rows" }).click();
    await waitForRows(page, EMAILS.length);
    const all = await save(page, () =>
      page.getByRole("button", { name: `Download ${EMAILS.length} rows` }).click(),
    );

    expect(some.name).toMatch(/-selected\.csv$/);
    const [header = "", row = ""] = readLines(some);
    expect(header).toMatch(/^email,status,send,/);
    expect(row).toMatch(/^catch_all\+1@other\.com,catch_all,careful,/);
    expect(all.name).toMatch(/-results\.csv$/);
    expect(readLines(all)).toHaveLength(EMAILS.length + 1);
  });

  test("the download menu writes the rows as a spreadsheet, as JSON and as a file per advice", async () => {
    const { page } = await openList("?filter=send:yes,send:no");
    await waitForRows(page, 62);

    const sheet = await saveAs(page, "Excel");
    const json = await saveAs(page, "JSON");
    const zip = await saveAs(page, "ZIP");

    const rows: (readonly string[])[] = [];
    const { sheets, read } = await openWorkbook(await openAsBlob(sheet.path));
    await read(sheets[0] ?? "", (cells) => void rows.push(cells));
    expect([sheet.name.endsWith(".xlsx"), rows.length]).toEqual([true, 63]);
    const { rows: found } = JSON.parse(readFileSync(json.path, "utf8"));
    expect(found).toHaveLength(62);
    expect(new Set(found.map(({ send }: { send: string }) => send))).toEqual(
      new Set(["yes", "no"]),
    );
    expect(zip.name).toMatch(/\.zip$/);
    const bytes = readFileSync(zip.path, "latin1");
    for (const name of ["yes", "careful", "no"]) expect(bytes).toContain(`send-${name}.csv`);
  });

  test("a running list downloads its rows so far and every row", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready } = opened;
    const job = await createJob(
      opened,
      ["ada.lovelace@valid.lab.mailproof.test", "ada.list@greylist.lab.mailproof.test"],
      "Slow",
      "live_key",
    );
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page
      .getByText(
        /^50% done\. Use it now; 1 row may still change: retried at \d\d:\d\d\. The list ends by .+ at the latest\.$/,
      )
      .waitFor();

    const soFar = await save(page, () =>
      page.getByRole("button", { name: "Download 1 row" }).click(),
    );
    const every = await saveAs(page, "CSV of every row");

    expect(readLines(soFar)).toHaveLength(2);
    expect(readLines(every)).toHaveLength(3);
  });

  const chooseMore = async (page: Page, name: string): Promise<void> => {
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("button", { name, exact: true }).click();
  };

  test("a cancelled list shows its refund, updates the balance and can be deleted", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready, readApi } = opened;
    const at = "greylist.lab.mailproof.test";
    const emails = [`grace.list@${at}`, `alan.list@${at}`];
    const job = await createJob(opened, emails, "Waiting", "live_key");
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByText("2 rows will be retried at", { exact: false }).waitFor();

    await chooseMore(page, "Cancel list");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 addresses have no result yet.", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Cancel list" }).click();
    await page.getByText("2 credits refunded", { exact: false }).waitFor();

    const { credits } = await readApi<any>("/v1/account");
    const balance = new Intl.NumberFormat("en").format(credits.available);
    await page.locator(".balance").getByText(balance).waitFor();
    expect(credits.held).toBe(0);

    await chooseMore(page, "Delete list");
    await page.getByRole("dialog").getByRole("button", { name: "Delete list" }).click();
    await page.getByRole("heading", { name: "Lists", level: 1 }).waitFor();
    const headers = { "x-api-key": ready.live_key };
    expect((await fetch(`${ready.base_url}/v1/jobs/${job}`, { headers })).status).toBe(404);
  });

  test("a list without results shows that it is running, without filter or download", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page, ready } = opened;
    const emails = ["edsger.list@greylist.lab.mailproof.test"];
    const job = await createJob(opened, emails, "Empty", "live_key");
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await page.getByText("1 address is being verified. 1 row will be retried at").waitFor();

    await page.getByText("No results yet. They appear here by themselves.").waitFor();
    const download = page.getByRole("button", { name: "Download 0 rows" });
    expect(await download.getAttribute("aria-disabled")).toBe("true");
    expect(await page.getByRole("region", { name: "Status", exact: true }).count()).toBe(0);
    await page.getByLabel("Search addresses").fill("nothing");
    await page.getByText("No rows match.", { exact: false }).waitFor();
    await checkScreen(opened, "list-empty");
  });

  test("the list's own columns appear in the table by choice and in the drawer", async () => {
    const opened = await open({ path: "lists" });
    const { page, ready } = opened;
    const list = "Name;E-Mail;City\nAda;ann@x.com;Köln\nGrace;invalid@x.com;Zürich\n";
    const job = await createFileJob(opened, list);
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await waitForRows(page, 2);
    const readTitles = () => page.getByRole("columnheader").allInnerTexts();
    const readFirst = () => page.locator("tbody tr").first().innerText();

    expect((await readTitles()).at(-1)).toBe("Name");
    expect(await readFirst()).toContain("Ada");
    await page.getByRole("button", { name: "Columns" }).click();
    expect(await page.getByRole("checkbox", { name: "E-Mail" }).count()).toBe(0);
    await page.getByRole("checkbox", { name: "City" }).check();
    await page.getByRole("checkbox", { name: "Score" }).uncheck();
    await page.keyboard.press("Escape");
    expect(await readTitles()).not.toContain("Score");
    expect(await readFirst()).toContain("Köln");
    await page.getByRole("button", { name: "invalid@x.com" }).click();
    const own = page.getByRole("dialog").getByRole("region", { name: "Your columns" });
    expect((await own.innerText()).split("\n")).toEqual([
      "Name",
      "Grace",
      "E-Mail",
      "invalid@x.com",
      "City",
      "Zürich",
    ]);
    await checkScreen(opened, "list-row");
  });

  test("the printed page of a list shows a summary without the table", async () => {
    const { page } = await openList();
    await page.emulateMedia({ media: "print" });

    expect(await page.getByRole("table", { name: /^Rows of/ }).isVisible()).toBe(false);
    expect(await page.getByRole("heading", { name: "Status", exact: true }).isVisible()).toBe(true);
    expect(await page.getByRole("navigation").count()).toBe(0);
    await takePicture(page, "list-print");
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g)).toHaveLength(1);
  });

  test("a row on a phone shows its address and status without sideways scrolling", async () => {
    const opened = await open({ path: "lists", width: 375, colorScheme: "dark" });
    const { page, ready } = opened;
    const job = await createJob(opened, EMAILS, "Customers");
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await waitForRows(page, EMAILS.length);

    const table = page.getByRole("region", { name: /^Rows of/ });
    expect(await page.getByRole("columnheader").allInnerTexts()).toEqual(["Address", "Status"]);
    expect(await table.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
    await checkScreen(opened, "list-phone", [375]);
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Why" }).check();
    await page.getByRole("checkbox", { name: "Score" }).check();
    expect(await page.getByRole("columnheader").count()).toBe(4);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
  });

  test("a confirmation about a list keeps the focus, Esc declines it, and the focus returns", async () => {
    const { page, job, ready } = await openList();
    const button = page.getByRole("button", { name: "More", exact: true });
    await chooseMore(page, "Delete list");
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

  test("the page of a list contains fewer than sixty of 20,000 rows at any position", async () => {
    const opened = await open({ path: "lists" });
    const { page, ready } = opened;
    const content = `email\n${Array.from({ length: 20_000 }, (_, n) => `ann${n}@x.com`).join("\n")}\n`;
    const job = await createFileJob(opened, content);
    await waitForJob(opened, job);
    await page.goto(`${ready.base_url}/app/lists/${job}`);
    await waitForRows(page, 20_000);
    const table = page.getByRole("region", { name: /^Rows of/ });

    expect(await readRowCount(page)).toBe(20_000);
    expect(await page.locator("tr").count()).toBeLessThan(60);
    await table.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await page.getByRole("button", { name: "ann19999@x.com", exact: true }).waitFor();
    expect(await page.locator("tbody tr").last().getAttribute("aria-rowindex")).toBe("20001");
    expect(await page.locator("tr").count()).toBeLessThan(60);
  });
});

// Rows of a list that has ended are asked again, and slips are corrected: found by roles and labels alone, with few clicks.

const ZONE = "lab.mailproof.test";

describeInBrowser("a list's child job", ({ open }) => {
  test("one click verifies the unknown rows again after showing the price, for one charge", async () => {
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

  test("one click corrects a mistyped domain", async () => {
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

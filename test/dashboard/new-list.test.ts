import type { Job } from "@mailproof/client";
import { writeSpreadsheet } from "@mailproof/core/exports/write-spreadsheet";
import { expect, test } from "vitest";
import { createSheets, createWorkbook } from "../things/workbook.ts";
import { checkScreen, describeInBrowser, type OpenedPage } from "./browser.ts";
import { createJob } from "./jobs.ts";

const AT = "valid.lab.mailproof.test";

/** As a spreadsheet program of a German office saves it. */
const SEMICOLONS = `\ufeffName;Ort;E-Mail\r\n"Lovelace; Ada";Köln;ada.lovelace@${AT}\r\nGrace;Zürich;GRACE.hopper@${AT.toUpperCase()}\r\nAgain;Wien;ada.lovelace@${AT}\r\nNone;Bern;-\r\n`;
const TABS = `first\tmail\tlast\nAda\tada.lovelace@${AT}\tLovelace\nGrace\tgrace.hopper@${AT}\tHopper\n`;

const LISTS = [
  ["semicolons and a byte order mark", Buffer.from(SEMICOLONS), "E-Mail", "semicolon", "utf-8", 2],
  ["UTF-16 and tabs", Buffer.from(`\ufeff${TABS}`, "utf16le"), "mail", "tab", "utf-16le", 2],
  [
    "one column without a name",
    Buffer.from(`ada@${AT}\nbob@${AT}\ncy@${AT}\n`),
    "column_1",
    "none, it has one column",
    "utf-8",
    3,
  ],
] as const;

const choose = async ({ page }: OpenedPage, buffer: Buffer, name = "customers.csv") => {
  await page.locator("input[type=file]").setInputFiles({ name, mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: /^Verify \d/ }).waitFor();
};

const readCount = ({ page }: OpenedPage, name: string) =>
  page.locator(".counts > div").filter({ hasText: name }).locator("dd").textContent();

const readAccount = ({ readApi }: OpenedPage) =>
  readApi<{ credits: { available: number; held: number; spent: number } }>("/v1/account");

const readCharged = async (opened: OpenedPage) => {
  const { credits } = await readAccount(opened);
  return credits.spent + credits.held;
};

describeInBrowser("the screen of a new list", ({ open }) => {
  test.each(LISTS)(
    "the screen finds the right column and shows the charged price: %s",
    async (_, bytes, column, delimiter, encoding, unique) => {
      const opened = await open({ path: "lists/new", key: "live" });
      const { page } = opened;
      await choose(opened, bytes);
      const before = await readCharged(opened);

      expect(
        await page.getByLabel("Column with the addresses").locator("option:checked").textContent(),
      ).toBe(column);
      expect(await readCount(opened, "Delimiter")).toBe(delimiter);
      expect(await readCount(opened, "Encoding")).toBe(encoding);
      expect(await readCount(opened, "Different addresses")).toBe(String(unique));
      expect(await page.locator(".price b").textContent()).toBe(`${unique} credits`);
      expect(await readCharged(opened)).toBe(before);

      await page.getByRole("button", { name: `Verify ${unique} addresses` }).dblclick();
      // The list itself, at once, also before its first result.
      await page.getByText(`Charged: ${unique} credits.`).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/lists\/job_/);
      expect((await readCharged(opened)) - before).toBe(unique);
      await page.getByRole("button", { name: `Download ${unique} rows` }).waitFor();
    },
  );

  test("the browser reads a spreadsheet, and the shown price equals the charge", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    async function* listRows() {
      yield ["Name", "E-Mail"];
      yield ["Lovelace; Ada", `ada.lovelace@${AT}`];
      yield ['"Amazing" Grace', `GRACE.hopper@${AT}`];
      yield ["Again", `ada.lovelace@${AT}`];
    }
    const sheet = Buffer.concat(await Array.fromAsync(writeSpreadsheet(listRows())));
    await choose(opened, sheet, "customers.xlsx");
    const before = await readCharged(opened);

    expect(
      await page.getByLabel("Column with the addresses").locator("option:checked").textContent(),
    ).toBe("E-Mail");
    expect(await readCount(opened, "Duplicates")).toBe("1");
    expect(await page.locator(".first-rows tbody td").allTextContents()).toContain(
      '"Amazing" Grace',
    );
    await page.getByRole("button", { name: "Verify 2 addresses" }).click();
    await page.getByText("Charged: 2 credits.").waitFor();

    expect((await readCharged(opened)) - before).toBe(2);
    expect(opened.complaints).toEqual([]);
  });

  test("the sheets and the columns of addresses are chosen by checkboxes, and the shown price is charged", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    const { Berlin, ...others } = createSheets(AT);
    const twoColumns = Berlin.map((cells, at) => [...cells, at === 0 ? "Home" : `home${at}@${AT}`]);
    await choose(opened, await createWorkbook({ ...others, Berlin: twoColumns }), "list.xlsx");
    const sheet = (name: string) =>
      page.getByRole("group", { name: "Sheets" }).getByRole("checkbox", { name });
    const before = await readCharged(opened);

    expect(await sheet("Cover: 3 rows, addresses in column_2").isChecked()).toBe(false);
    expect(await sheet("Notes: 2 rows, no addresses").isChecked()).toBe(false);
    expect(await sheet("Paris: 2 rows, addresses in Courriel").isDisabled()).toBe(true);
    await sheet("Berlin: 2 rows, addresses in E-Mail").check();
    await page.getByRole("button", { name: "Verify 3 addresses" }).waitFor();
    const columns = page.getByRole("group", { name: "Columns with addresses" });
    await columns.getByRole("checkbox", { name: "Home" }).check();
    await page.getByRole("button", { name: "Verify 5 addresses" }).waitFor();
    await checkScreen(opened, "new-list-sheets");
    await page.getByRole("button", { name: "Verify 5 addresses" }).click();
    await page.getByText("Charged: 5 credits.").waitFor();

    expect((await readCharged(opened)) - before).toBe(5);
    expect(opened.complaints).toEqual([]);
  });

  test("rows that another service settled are left out by a checkbox, at the shown price, and a row has both verdicts", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page, ready } = opened;
    const rows = ["ada,valid", "bob,invalid", "cy,invalid"].map((row) =>
      row.replace(",", `@${AT},`),
    );
    await choose(opened, Buffer.from(`E-Mail,ZB Status\n${rows.join("\n")}\n`));
    const before = await readCharged(opened);

    await page.getByText("which settle 2 addresses: 3 credits with them, 1 without.").waitFor();
    await checkScreen(opened, "new-list-settled");
    await page.getByRole("checkbox", { name: "Leave out what ZeroBounce settled" }).check();
    expect(await page.locator(".price b").textContent()).toBe("1 credit");
    await page.getByRole("button", { name: "Verify 1 address" }).click();
    await page.getByText("Charged: 1 credit.").waitFor();
    await page.getByRole("button", { name: "Download 1 row" }).waitFor();
    await page.goto(`${page.url()}?row=2`);
    await page.getByRole("dialog").getByText("ZeroBounce says valid").waitFor();
    const occurred_at = new Date().toISOString();
    const bounce = { bounce_type: "hard", diagnostic: "550 5.1.1 User unknown" };
    const event = { id: occurred_at, type: "bounce", email: `ada@${AT}`, occurred_at, ...bounce };
    await fetch(`${ready.base_url}/v1/activity/events`, {
      method: "POST",
      headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
      body: JSON.stringify({ events: [event] }),
    });
    // A narrow screen has these facts behind a button.
    await page.setViewportSize({ width: 1_600, height: 900 });
    await page.goto(page.url().replace("?row=2", ""));
    await page
      .getByRole("region", { name: "Who was right" })
      .getByText("Bounced: ZeroBounce was right about 0 of 1, we about")
      .waitFor();

    expect((await readCharged(opened)) - before).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  test("the preview shows duplicates, rows without an address, and the first rows", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    await checkScreen(opened, "new-list");
    await choose(opened, Buffer.from(SEMICOLONS));

    expect(await readCount(opened, "Rows")).toBe("4");
    expect(await readCount(opened, "Duplicates")).toBe("1");
    expect(await readCount(opened, "Without an address")).toBe("1");
    const rows = page.locator(".first-rows tbody tr");
    expect(await rows.first().locator("td").allTextContents()).toEqual([
      "Lovelace; Ada",
      "Köln",
      `ada.lovelace@${AT}`,
    ]);
    await checkScreen(opened, "new-list-preview");

    await page.getByLabel("Column with the addresses").selectOption({ label: "Ort" });
    await page
      .getByRole("alert")
      .or(page.getByRole("button", { name: "Verify 0 addresses" }))
      .first()
      .waitFor();
    expect(await page.locator(".price b").textContent()).toBe("0 credits");
  });

  test("the preview of a long list shows its first twenty rows, its price and the balance", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    const rows = Array.from({ length: 25 }, (_, n) => `Person ${n},person${n}@${AT}`);
    await choose(opened, Buffer.from(`Name,E-Mail\n${rows.join("\n")}\n`));

    const shown = await page.locator(".first-rows tbody tr").allInnerTexts();
    expect(shown.map((text) => text.split("\t")[0])).toEqual(
      Array.from({ length: 20 }, (_, n) => `Person ${n}`),
    );
    const { credits } = await readAccount(opened);
    expect(await page.locator(".price").textContent()).toBe(
      `25 credits of ${new Intl.NumberFormat("en").format(credits.available)} available.`,
    );
  });

  test("a list whose response was lost is charged once after Retry and a reload", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    await choose(opened, Buffer.from(TABS));
    const before = await readCharged(opened);
    let lost = 0;
    await page.route("**/v1/verify/file", async (route) => {
      if (route.request().postData()?.includes('"process"') !== true) return route.continue();
      await page.getByText("Waiting for the service to read the list").waitFor();
      await route.fetch();
      await route.abort();
      lost += 1;
    });
    await page.getByRole("button", { name: "Verify 2 addresses" }).click();
    await page.getByRole("alert").waitFor();
    expect((await readCharged(opened)) - before).toBe(2);

    await page.getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => lost).toBe(2);
    await page.getByRole("alert").waitFor();
    await page.unroute("**/v1/verify/file");
    await page.reload();
    await page.getByText(/^2 addresses verified/).waitFor();

    expect((await readCharged(opened)) - before).toBe(2);
  });

  test("pasted addresses become a list of the given name, and a reload after sending costs nothing", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page, readApi } = opened;
    await page.getByLabel("Or paste addresses").fill(`ada.lovelace@${AT}\ngrace.hopper@${AT}`);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByLabel("Name of the list").fill("Friends");
    await page.getByRole("button", { name: "Verify 2 addresses" }).click();
    await page.getByText("Charged: 2 credits.").waitFor();
    const charged = await readCharged(opened);
    const readJobs = async () => (await readApi<{ jobs: readonly Job[] }>("/v1/jobs")).jobs;
    const jobs = await readJobs();
    expect(jobs[0]?.name).toBe("Friends");

    await page.reload();
    await page.getByText("Charged: 2 credits.").waitFor();

    expect(await readCharged(opened)).toBe(charged);
    expect((await readJobs()).length).toBe(jobs.length);
    await page.locator(".side").getByRole("link", { name: "New list" }).click();
    await page.getByText("Choose a CSV, TXT or XLSX file").waitFor();
  });

  test("a file that is not a list shows an explanation and the remedy", async () => {
    const opened = await open({ path: "lists/new" });
    const { page } = opened;
    const archive = Buffer.from("PK\u0003\u0004 and nothing of a spreadsheet");

    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "list.xlsx", mimeType: "application/zip", buffer: archive });

    expect(await page.getByRole("alert").textContent()).toContain("the spreadsheet is damaged");
    expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
    await page.getByRole("button", { name: "Choose another list" }).click();

    await page.locator("input[type=file]").setInputFiles({
      name: "list.ods",
      mimeType: "application/octet-stream",
      buffer: Buffer.from([0, 1, 2, 3, 255, 254, 0, 0, 7, 7]),
    });
    await page.getByText("Save it as CSV, TXT or XLSX.", { exact: false }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("the screen accepts a dropped list, and Enter sends it at its price", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page } = opened;
    const drop = page.locator(".drop");
    await drop.waitFor();
    const before = await readCharged(opened);
    const data = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(TABS)}], "dropped.csv"));
      return transfer;
    })()`);
    await drop.dispatchEvent("drop", { dataTransfer: data });
    // Before the price is shown, Enter sends nothing.
    await page.locator(".price").waitFor();

    await page.getByLabel("Name of the list").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Charged: 2 credits.").waitFor();
    expect((await readCharged(opened)) - before).toBe(2);
  });

  test("the screen of a newer version shows the changes, charges only the new address, and filters by new rows", async () => {
    const opened = await open({ path: "lists", key: "live" });
    const { page } = opened;
    await page.getByRole("heading", { name: "Lists" }).waitFor();
    const emails = [`ada.lovelace@${AT}`, `grace.hopper@${AT}`];
    await createJob(opened, emails, "This week", "live_key");
    await page.reload();
    await page.getByRole("link", { name: "This week" }).click();
    await page.getByText(/^2 addresses verified/).waitFor();
    const before = await readCharged(opened);

    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "Upload a newer version" }).click();
    const buffer = Buffer.from(`email\nada.lovelace@${AT}\nmary.shelley@${AT}\n`);
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "next-week.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Compare with the earlier list" }).click();
    await page.getByRole("button", { name: "Verify 1 address" }).waitFor();

    expect(await readCount(opened, "New")).toBe("1");
    expect(await readCount(opened, "Known since")).toBe("1");
    expect(await readCount(opened, "Removed")).toBe("1");
    await checkScreen(opened, "new-list-comparison");
    await page.getByRole("button", { name: "Verify 1 address" }).click();
    await page.getByText("Charged: 1 credit.").waitFor();
    expect((await readCharged(opened)) - before).toBe(1);
    await page.getByText("1 address is new since the").waitFor();

    await page.goto(`${page.url()}?filter=origin%3Anew`);
    await page.getByRole("button", { name: "Download 1 row" }).waitFor();
  });

  test("a cancelled upload charges and sends nothing and keeps the choices", async () => {
    const opened = await open({ path: "lists/new", key: "live" });
    const { page, requests } = opened;
    await choose(opened, Buffer.from(TABS));
    const before = await readCharged(opened);
    await page.route("**/blobs/**", () => {});
    const uploading = page.waitForRequest("**/blobs/**");
    const column = page.getByLabel("Column with the addresses");
    await column.selectOption({ label: "last" });
    await page.getByRole("button", { name: "Verify 0 addresses" }).waitFor();
    await column.selectOption({ label: "mail" });
    await page.getByLabel("The first row names the columns").uncheck();
    await page.getByLabel("Name of the list").fill("Friends");

    await page.getByRole("button", { name: "Verify 2 addresses" }).click();
    await page.getByText("Nothing is charged yet.").waitFor();
    await uploading;
    await page.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Verify 2 addresses" }).waitFor();
    expect(await page.getByLabel("Name of the list").inputValue()).toBe("Friends");
    expect(await column.inputValue()).toBe("1");
    expect(await page.getByLabel("The first row names the columns").isChecked()).toBe(false);

    expect(await readCharged(opened)).toBe(before);
    expect(requests.filter((one) => one === "POST /v1/verify/file").length).toBe(1);
  });
});

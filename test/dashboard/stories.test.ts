import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeInBrowser, saveDownload } from "./browser.ts";
import { callApi } from "./jobs.ts";

// A main flow from its beginning to its end. The others are in overview, domains, api-keys and webhooks.

const AT = "lab.mailproof.test";

/** As Excel in Germany saves "CSV": semicolons, in windows-1252. */
const EXCEL = `Name;Ort;E-Mail
"Lovelace; Ada";Köln;ada.lovelace@valid.${AT}
Grace;Zürich;grace.hopper@valid.${AT}
Niemand;Bern;nobody@valid.${AT}
Alle;Graz;ada.lovelace@catchall.${AT}
Nochmal;Wien;ada.lovelace@valid.${AT}
Leer;Linz;
`.replaceAll("\n", "\r\n");

type Credits = { readonly credits: { readonly spent: number; readonly held: number } };

describeInBrowser("a story", ({ open }) => {
  test("with a processor four times slower an impatient person double-clicks, reloads and goes back, and pays once", async () => {
    const opened = await open({ key: null, width: 375, isAlone: true });
    const { page, ready, complaints } = opened;
    const readCharged = async () => {
      const { credits } = await callApi(opened, "GET /v1/account", undefined, "live_key");
      return credits.spent + credits.held;
    };
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.getByLabel("API key").fill(ready.live_key);
    await page.getByRole("button", { name: "Sign in" }).dblclick();
    const email = page.getByLabel("Verify an address");
    await email.waitFor();
    const before = await readCharged();

    await email.fill(`edsger.dijkstra@valid.${AT}`);
    await page.getByRole("button", { name: "Verify", exact: true }).dblclick();
    await page.locator(".verdict").waitFor();
    await page.reload();
    await page.locator(".verdict").waitFor();
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "New list" }).dblclick();
    await page.getByLabel("Or paste addresses").fill(`grace.hopper@valid.${AT}`);
    await page.getByRole("button", { name: "Preview" }).dblclick();
    await page.getByRole("button", { name: "Verify 1 address" }).dblclick();
    await page.getByText("Charged: 1 credit.").waitFor();
    await page.reload();
    await page.getByText(/^1 address verified/).waitFor();
    await page.goBack();
    await page.locator(".verdict").waitFor();

    expect((await readCharged()) - before).toBe(2);
    expect(complaints).toEqual([]);
  });

  test("a semicolon list from Excel becomes a file of those that are safe to send to", async () => {
    const { page, readApi, complaints } = await open({ key: "live" });
    const readCharged = async () => {
      const { credits } = await readApi<Credits>("/v1/account");
      return credits.spent + credits.held;
    };
    const before = await readCharged();
    await page.locator(".side").getByRole("link", { name: "New list" }).click();
    await page.locator("input[type=file]").setInputFiles({
      name: "Kunden.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(EXCEL, "latin1"),
    });

    // The preview has understood it, and says what it costs: two rows are free.
    const column = page.getByLabel("Column with the addresses");
    expect(await column.locator("option:checked").textContent()).toBe("E-Mail");
    expect(await page.locator(".first-rows tbody td").allTextContents()).toContain("Zürich");
    expect(await page.locator(".price b").textContent()).toBe("4 credits");
    await page.getByRole("button", { name: "Verify 4 addresses" }).click();

    // It ends by itself, and its filters say what became of the addresses.
    await page.getByText(/^4 addresses verified/).waitFor();
    const statuses = page.getByRole("region", { name: "Status", exact: true }).getByRole("button");
    expect((await statuses.allInnerTexts()).map((text) => text.split(/\s+/))).toEqual([
      ["valid", "2"],
      ["invalid", "1"],
      ["catch-all", "1"],
    ]);
    expect((await readCharged()) - before).toBe(4);

    // The file is the customer's own, of the valid rows, as Excel opens it.
    await page.getByRole("region", { name: "Send" }).getByRole("button", { name: "yes" }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download 2 rows" }).click(),
    ]);
    const [head = "", ...rows] = readFileSync(await saveDownload(saved), "utf8")
      .replace(/^\uFEFF/, "")
      .trim()
      .split(/\r?\n/);
    expect(head).toMatch(/^Name;Ort;E-Mail;/);
    expect(rows.every((row) => row.includes(`@valid.${AT}`) && !row.includes("nobody"))).toBe(true);
    expect(rows[0]).toContain('"Lovelace; Ada";Köln;');
    expect(rows[1]).toContain("Grace;Zürich;");
    expect(complaints).toEqual([]);
  });
});

import type { GetAccountData } from "@mailproof/client";
import { expect, test } from "vitest";
import {
  beforeAnswer,
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  readCopied,
} from "./browser.ts";

const search = async ({ page }: OpenedPage, firstName: string, domain: string): Promise<void> => {
  await page.getByLabel("First name").fill(firstName);
  await page.getByLabel("Last name").fill("Lee");
  await page.getByLabel("Company's domain").fill(domain);
  await page.keyboard.press("Enter");
};

describeInBrowser("the screen Find", ({ open }) => {
  test.each([
    ["Ann", "ann.lee@example.com", "valid"],
    ["Invalid", "No address found for Invalid Lee", "not_found"],
    ["Catchall", "catchall.lee@example.com", "catch_all"],
  ])("the screen shows the documented search for %s as %s", async (name, heading, status) => {
    const opened = await open({ path: "find" });
    await search(opened, name, "example.com");

    await opened.page.getByRole("heading", { name: heading }).waitFor();
    expect(await opened.page.locator(".found .status").textContent()).toBe(status);
    expect(await opened.page.locator(".found").textContent()).toContain("free with a test key");
    await checkScreen(opened, "find");
  });

  test("the price beside the button equals the catalogue's and the charge", async () => {
    const { page, readApi } = await open({ key: "live", path: "find" });
    const { credits_per_operation: prices } = await readApi<any>("/v1/catalog");

    await page.getByText(`${prices.find} credits, even when nothing is found.`).waitFor();
    await page.getByRole("link", { name: "Verify one address" }).click();
    await page
      .getByText(`${prices.verify} credit; ${prices.verify_from_cache} credits if`)
      .waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("ada@valid.lab.mailproof.test");
    const command = page.getByRole("option", { name: "Verify ada@valid.lab.mailproof.test" });
    // The prices are read when the page is, and may be on their way.
    const price = () => command.locator("small").textContent();
    await expect.poll(price).toBe(`${prices.verify} credit`);
  });

  test("a search sent twice by keyboard alone is charged once", async () => {
    const { page, readApi, requests } = await open({ key: "live", path: "find" });
    const read = async () => (await readApi<GetAccountData>("/v1/account")).credits.available;
    const before = await read();
    await page.getByLabel("First name").focus();
    await page.keyboard.type("Grace");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Hopper");
    await page.keyboard.press("Tab");
    await page.keyboard.type("valid.lab.mailproof.test");
    await page.keyboard.press("Tab");
    await beforeAnswer(page, async () => {
      await page.keyboard.press("Enter");
      await page.keyboard.press("Enter");
    });

    await page.locator(".found").waitFor();
    expect(await read()).toBe(before - 5);
    expect(requests.filter((one) => one.startsWith("POST /v1/find"))).toHaveLength(1);
    await page.locator(".found").getByRole("button", { name: "Copy" }).focus();
    expect(await readCopied(page, () => page.keyboard.press("Enter"))).toBe(
      await page.locator(".found h2").textContent(),
    );
  });

  test("a search costs five credits, and its repeat shows that it was free", async () => {
    const opened = await open({ key: "live", path: "find" });
    const { page, readApi } = opened;
    const read = async () => (await readApi<GetAccountData>("/v1/account")).credits.available;
    const before = await read();
    await search(opened, "Ada", "valid.lab.mailproof.test");
    await page.getByText("5 credits", { exact: true }).waitFor();
    expect(await read()).toBe(before - 5);

    await page.getByRole("button", { name: "Find", exact: true }).dblclick();

    await page
      .getByText("free: you paid for the same search within the last two minutes")
      .waitFor();
    expect(await read()).toBe(before - 5);
  });
});

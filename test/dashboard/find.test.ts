import { readFileSync } from "node:fs";
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

/** The searches of docs/test-keys.md that have a result. */
const readDocumented = () => {
  const [, page = ""] = readFileSync("docs/test-keys.md", "utf8").split("## Results of a search");
  const [results = ""] = page.split("\n## ");
  const row = /^\| `(\w+)` +\| (\w+) +\| 200 +\| (?:`([^`]+)`|-) +\| (?:`([^`]+)`|-) +\|/gm;
  return [...results.matchAll(row)].map(([, firstName = "", status = "", email, pattern]) => ({
    firstName,
    status,
    email,
    pattern,
  }));
};

test("the documented searches are read", () => {
  expect(readDocumented().length).toBeGreaterThan(11);
});

describeInBrowser("find", ({ open }) => {
  test.each([
    ["Ann", "ann.lee@example.com", "valid"],
    ["Invalid", "No address found for Invalid Lee", "not_found"],
    ["Catchall", "catchall.lee@example.com", "catch_all"],
  ])("the documented search for %s shows %s", async (name, heading, status) => {
    const opened = await open({ path: "find" });
    await search(opened, name, "example.com");

    await opened.page.getByRole("heading", { name: heading }).waitFor();
    expect(await opened.page.locator(".found .status").textContent()).toBe(status);
    expect(await opened.page.locator(".found").textContent()).toContain("free with a test key");
    await checkScreen(opened, "find");
  });

  test.each(readDocumented())(
    "$firstName Lee has the status $status, as documented",
    async ({ firstName, status, email, pattern }) => {
      const opened = await open({ path: "find" });
      await search(opened, firstName, "example.com");

      const heading = email ?? `No address found for ${firstName} Lee`;
      await opened.page.getByRole("heading", { name: heading, exact: true }).waitFor();
      expect(await opened.page.locator(".found .status").textContent()).toBe(status);
      expect(await opened.page.locator(".found dd").nth(1).textContent()).toBe(
        pattern ?? "not known",
      );
    },
  );

  test("the price beside the button is the catalog's, and the price that is charged", async () => {
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

  test("a failure of ours has its sentence and request id, and Retry searches again", async () => {
    const opened = await open({ path: "find" });
    await search(opened, "Error", "example.com");
    const alert = opened.page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Request id req_\w+/);

    await opened.page.getByLabel("First name").fill("Ann");
    await alert.getByRole("button", { name: "Retry" }).click();

    await opened.page.getByRole("heading", { name: "ann.lee@example.com" }).waitFor();
    expect(await alert.count()).toBe(0);
  });

  test("by keyboard alone, and pressed twice, a search is charged once", async () => {
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

  test("a search costs five credits, and its repeat says that it was free", async () => {
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

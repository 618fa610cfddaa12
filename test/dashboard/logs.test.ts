import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, readCopied } from "./browser.ts";
import { checkStackedTable } from "./server.ts";

describeInBrowser("the logs", ({ open }) => {
  test("a call made on another screen is there within two seconds, with its request id", async () => {
    const opened = await open({ path: "verify" });
    const { page, requests } = opened;
    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/verify"));
    await page.getByRole("textbox").first().fill("valid@example.com");
    await page.keyboard.press("Enter");
    const id = (await answered).headers()["x-request-id"] ?? "";
    await page.getByText("accepted").first().waitFor();
    await page.getByRole("link", { name: "Logs" }).click();

    const row = page.locator(".requests tbody tr", { hasText: id });
    await row.waitFor();
    // The list is read when the screen opens, and after one second and two.
    expect(requests.filter((one) => one.startsWith("GET /v1/requests")).length).toBeLessThanOrEqual(
      3,
    );
    expect(id).toMatch(/^\S{8,}$/);
    const text = await row.innerText();
    expect(text).toContain("POST /v1/verify");
    expect(text).toContain("200");
    // It is read without scrolling sideways.
    const copy = await row.getByRole("button", { name: "Copy" }).boundingBox();
    expect((copy?.x ?? Infinity) + (copy?.width ?? 0)).toBeLessThan(1280);
    // No address is in a log.
    expect(await page.locator(".requests").innerText()).not.toContain("valid@example.com");
    await checkScreen(opened, "logs");
    await checkStackedTable(page, ["Request", "Status", "Time", "ms", "Request id", "Key"]);
  });

  test("by keyboard alone a status is chosen and a request id copied", async () => {
    const { page, ready } = await open({ path: "logs" });
    const { headers } = await fetch(`${ready.base_url}/v1/verify`, {
      method: "POST",
      headers: { "x-api-key": ready.test_key, "content-type": "application/json" },
      body: "{}",
    });
    const id = headers.get("x-request-id") ?? "";
    await page.getByLabel("All").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/status=4xx$/);
    expect(await page.evaluate("document.activeElement.parentElement.textContent")).toBe("4xx");
    // The account has earlier requests of this status: the newest is shown first, a moment after it was answered.
    await page.locator(".requests tbody tr").first().filter({ hasText: id }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");

    expect(await readCopied(page, () => page.keyboard.press("Enter"))).toBe(id);
  });

  test("a call made elsewhere appears without a click, and only in the class of its status", async () => {
    const { page, ready } = await open({ path: "logs?status=4xx" });
    await page.getByText("No matching requests").or(page.locator(".requests")).first().waitFor();
    const refused = await fetch(`${ready.base_url}/v1/verify`, {
      method: "POST",
      headers: { "x-api-key": ready.test_key, "content-type": "application/json" },
      body: "{}",
    });
    const id = refused.headers.get("x-request-id") ?? "";

    const row = page.locator(".requests tbody tr", { hasText: id });
    await row.waitFor();
    expect(await row.innerText()).toContain("INVALID_REQUEST");
    await page.getByLabel("2xx").check();
    await row.waitFor({ state: "detached" });
    expect(page.url()).toContain("status=2xx");
    await page.reload();
    expect(await page.getByLabel("2xx").isChecked()).toBe(true);
  });
});

import { expect, test } from "vitest";
import {
  beforeAnswer,
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  waitUntilLoaded,
} from "./browser.ts";

const submitKey = async ({ page }: OpenedPage, key: string) => {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
};

const readStorage = ({ page }: OpenedPage) =>
  page.evaluate(
    "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, document.title, document.cookie])",
  ) as Promise<string>;

describeInBrowser("the screen Sign in", ({ open }) => {
  test("the sign-in form is accessible and fits every width", async () => {
    const opened = await open({ key: null });
    await opened.page.getByRole("heading", { name: "Sign in" }).waitFor();

    expect(await opened.page.evaluate("document.activeElement.id")).toBe("key");
    await checkScreen(opened, "sign-in");
  });

  test("the sign-in form marks and explains a wrong key at its field, and stores nothing", async () => {
    const opened = await open({ key: null });
    const { page, complaints } = opened;
    const wrong = `${opened.ready.live_key.slice(0, -1)}!`;

    await submitKey(opened, wrong);
    await page.getByRole("alert").waitFor();

    expect(await page.getByRole("alert").textContent()).toContain("does not accept this key");
    const field = page.getByLabel("API key");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await page.evaluate("document.activeElement.id")).toBe("key");
    expect(await readStorage(opened)).not.toContain("mp_");
    expect(complaints).toEqual([]);
    await field.fill("another");
    expect(await field.getAttribute("aria-invalid")).toBe("false");
  });

  test("the sign-in form refuses a malformed key without a request", async () => {
    const opened = await open({ key: null });
    await submitKey(opened, "");

    expect(await opened.page.getByRole("alert").textContent()).toBe("Enter an API key.");
    // The page has asked for a person's session when it opened.
    expect(opened.requests.filter((one) => one.includes("/v1/"))).toEqual(["GET /v1/person"]);
  });

  test("the dashboard keeps the key only in sessionStorage, in no URL, title, cookie or localStorage", async () => {
    const opened = await open({ key: null, path: "verify" });
    const { page, ready, requests } = opened;

    await submitKey(opened, ready.test_key);
    await page.getByRole("heading", { name: "Verify one address" }).waitFor();

    const [session, ...others] = JSON.parse(await readStorage(opened)) as [Record<string, string>];
    expect(session["mailproof.key"]).toBe(ready.test_key);
    expect(JSON.stringify(others)).not.toContain("mp_");
    expect(requests.join()).not.toContain("mp_");
  });

  test("signing out empties the storage, and Back shows no data", async () => {
    const opened = await open({ key: null });
    const { page, ready } = opened;
    await submitKey(opened, ready.live_key);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Verify one address" }).click();
    await page.getByRole("heading", { name: "Verify one address" }).waitFor();

    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();

    const { opened: _mark, ...stored } = JSON.parse(await readStorage(opened))[0];
    expect(stored).toEqual({});
    await page.goBack();
    expect(await page.getByRole("heading").allTextContents()).toEqual(["Sign in"]);
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByText("credits").count()).toBe(0);
  });

  test("a key with some scopes signs in and sees only readable parts, without errors", async () => {
    const opened = await open({ key: null });
    const { ready, page } = opened;
    const created = await fetch(`${ready.base_url}/v1/api-keys`, {
      method: "POST",
      headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
      body: JSON.stringify({ name: "Reader", mode: "live", scopes: ["verification:read"] }),
    });
    const { data } = (await created.json()) as { data: { key: string } };

    await submitKey(opened, data.key);
    await page.getByRole("heading", { name: "Overview" }).waitFor();

    await page.getByText("No list has ended yet.").waitFor();
    await page.getByText("What it may not read is left out here.").waitFor();
    await waitUntilLoaded({ page });
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await page.locator("main h2").allTextContents()).toEqual(["Last list"]);
  });

  test("a key that is revoked during the session ends the session with the reason", async () => {
    const opened = await open({ key: null });
    const { ready, page } = opened;
    const headers = { "x-api-key": ready.live_key, "content-type": "application/json" };
    const created = await fetch(`${ready.base_url}/v1/api-keys`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "Leaked", mode: "live" }),
    });
    const { data } = (await created.json()) as { data: { key: string; key_id: string } };
    await submitKey(opened, data.key);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await waitUntilLoaded(opened);

    // No request gets an answer in between: one before the reload would end the session, and the new page would give no reason.
    await beforeAnswer(page, async () => {
      await fetch(`${ready.base_url}/v1/api-keys/${data.key_id}`, { method: "DELETE", headers });
      await page.reload();
    });
    await page.getByRole("heading", { name: "Sign in" }).waitFor();

    expect(await page.getByRole("status").textContent()).toContain("no longer accepts this key");
    expect(await readStorage(opened)).not.toContain("mp_");
  });
});

import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, type OpenedPage, readCopied } from "./browser.ts";
import { checkStackedTable, type Ready } from "./server.ts";

const LONGEST_ROUTE = "/v1/webhooks/wh_none/deliveries/del_none/retry";

describeInBrowser("the screen of logs", ({ open }) => {
  /** A request of a program; its response's id. */
  const send = async (
    { base_url, test_key }: Ready,
    path = "/v1/verify",
    body: unknown = {},
    key = test_key,
  ): Promise<string> => {
    const { headers } = await fetch(base_url + path, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return headers.get("x-request-id") ?? "";
  };

  const createKey = async (
    { base_url, test_key }: Ready,
    name: string,
    scopes?: readonly string[],
  ): Promise<{ readonly key: string; readonly key_id: string }> => {
    const response = await fetch(`${base_url}/v1/api-keys`, {
      method: "POST",
      headers: { "x-api-key": test_key, "content-type": "application/json" },
      body: JSON.stringify({ name, mode: "test", ...(scopes && { scopes }) }),
    });
    return ((await response.json()) as any).data;
  };

  const findRow = ({ page }: Pick<OpenedPage, "page">, id: string) =>
    page.locator(".requests tbody tr", { hasText: id });

  test("the request table lists a call of another screen within two seconds, with its request id", async () => {
    const opened = await open({ path: "verify" });
    const { page, requests } = opened;
    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/verify"));
    await page.getByRole("textbox").first().fill("valid@example.com");
    await page.keyboard.press("Enter");
    const id = (await answered).headers()["x-request-id"] ?? "";
    await page.getByText("accepted").first().waitFor();
    await page.getByRole("link", { name: "Logs" }).click();

    const row = findRow(opened, id);
    await row.waitFor();
    // The list is read when the screen opens, and after one second and two.
    expect(requests.filter((one) => one.startsWith("GET /v1/requests")).length).toBeLessThanOrEqual(
      3,
    );
    expect(id).toMatch(/^\S{8,}$/);
    const text = await row.innerText();
    expect(text).toContain("POST /v1/verify");
    expect(text).toContain("200");
    // No address is in a log.
    expect(await page.locator(".requests").innerText()).not.toContain("valid@example.com");
    await checkScreen(opened, "logs");
    await checkStackedTable(page, ["Request", "Status", "Time", "Duration", "By"]);
  });

  test("the request table needs no sideways scrolling, even with the longest path and a long key name", async () => {
    const opened = await open({ path: "logs" });
    const { page, ready } = opened;
    const { key } = await createKey(ready, "The shop's nightly import of its newest customers");
    const id = await send(ready, LONGEST_ROUTE, {}, key);
    await findRow(opened, id).waitFor();

    for (const width of [1280, 768, 375]) {
      await page.setViewportSize({ width, height: 800 });
      const { scrollWidth, clientWidth }: any = await page
        .locator(".requests")
        .evaluate(({ scrollWidth, clientWidth }: any) => ({ scrollWidth, clientWidth }));
      expect(`${width}: ${scrollWidth}`).toBe(`${width}: ${clientWidth}`);
    }
  });

  test("a click on a row opens the request with a link to the manual and its key's name", async () => {
    const opened = await open({ path: "logs?status=4xx" });
    const { page, ready } = opened;
    await page.getByRole("combobox", { name: "API key" }).waitFor();
    // The names were read before.
    const { key, key_id } = await createKey(ready, "Shop");
    const id = await send(ready, "/v1/verify", {}, key);
    await findRow(opened, id).getByText("Shop").waitFor();
    await findRow(opened, id).getByText("INVALID_REQUEST").click();

    const dialog = page.getByRole("dialog", { name: "Request" });
    const text = await dialog.innerText();
    for (const part of ["POST /v1/verify", "400", " ms", "Shop", key_id, id])
      expect(text).toContain(part);
    expect(new URL(page.url()).search).toBe(`?status=4xx&request=${id}`);
    expect(await readCopied(page, () => dialog.getByRole("button", { name: "Copy" }).click())).toBe(
      id,
    );
    await checkScreen(opened, "logs-request");

    const link = (await dialog.getByRole("link").getAttribute("href")) ?? "";
    const { pathname, hash } = new URL(link, ready.base_url);
    expect(hash).toBe("#INVALID_REQUEST");
    expect(await (await fetch(ready.base_url + pathname)).text()).toContain(
      `id="${hash.slice(1)}"`,
    );
  });

  test("the request table shows a new call without a click, and only under the call's status class", async () => {
    const opened = await open({ path: "logs?status=4xx" });
    const { page, ready } = opened;
    await page.getByText("No matching requests").or(page.locator(".requests")).first().waitFor();
    const id = await send(ready);

    const row = findRow(opened, id);
    await row.waitFor();
    expect(await row.innerText()).toContain("INVALID_REQUEST");
    await page.getByLabel("2xx").check();
    await row.waitFor({ state: "detached" });
    expect(page.url()).toContain("status=2xx");
    await page.reload();
    expect(await page.getByLabel("2xx").isChecked()).toBe(true);
  });

  test("the URL of a search by path or id contains the search, and no URL contains an address", async () => {
    const opened = await open({ path: "logs" });
    const { page, ready } = opened;
    const [verified, retried] = [await send(ready), await send(ready, LONGEST_ROUTE)];
    await findRow(opened, retried).waitFor();
    const search = page.getByRole("searchbox");

    await search.fill("POST /v1/webhooks");
    await findRow(opened, verified).waitFor({ state: "detached" });
    expect(await findRow(opened, retried).count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?q=POST+/v1/webhooks");
    await page.reload();
    await findRow(opened, retried).waitFor();
    expect(await search.inputValue()).toBe("POST /v1/webhooks");

    await search.fill(verified);
    await findRow(opened, verified).waitFor();
    expect(await page.locator(".requests tbody tr").count()).toBe(1);

    await search.fill("ann@example.com");
    await page.getByText("No address is stored with a request.").waitFor();
    expect(page.url()).toContain(verified);
    await search.fill("nothing of the sort");
    await page.getByText("No matching requests in the last 7 days.").waitFor();
  });

  test("a filter by a key's name shows that key's requests", async () => {
    const opened = await open({ path: "logs" });
    const { page, ready } = opened;
    const { key, key_id } = await createKey(ready, "Importer");
    const [other, own] = [await send(ready), await send(ready, "/v1/verify", {}, key)];
    await page.reload();
    await findRow(opened, own).getByText("Importer").waitFor();

    await page.getByRole("combobox", { name: "API key" }).selectOption("Importer");
    await findRow(opened, other).waitFor({ state: "detached" });
    expect(await findRow(opened, own).count()).toBe(1);
    expect(new URL(page.url()).search).toBe(`?key=${key_id}`);
  });

  test("a key that may not list keys sees the start of their ids, and no error", async () => {
    const { ready } = await open({ path: "logs" });
    const { key, key_id } = await createKey(ready, "Reader", ["account:read"]);
    const opened = await open({ path: "logs", key: { secret: key } });
    const id = await send(ready, "/v1/verify", {}, key);

    await findRow(opened, id).getByText(key_id.slice(0, 12)).waitFor();
    expect(await opened.page.getByRole("alert").count()).toBe(0);
    expect(await opened.page.getByRole("combobox", { name: "API key" }).count()).toBe(0);
  });

  test("a button shows older requests, and a link opens one of them", async () => {
    const { ready, readApi } = await open({ path: "logs" });
    const first = await send(ready);
    let last = first;
    for (let more = 0; more < 60; more++) last = await send(ready);
    const countStored = async () => (await readApi<any>(`/v1/requests?q=${last}`)).requests.length;
    await expect.poll(countStored).toBe(1);
    const opened = await open({ path: `logs?request=${first}` });
    const { page } = opened;

    await page.getByRole("dialog", { name: "Request" }).getByText(first).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    expect(await findRow(opened, first).count()).toBe(0);
    await page.getByRole("button", { name: "Show older requests" }).click();
    await findRow(opened, first).waitFor();
    await page.getByRole("button", { name: "Show the newest again" }).click();
    await findRow(opened, first).waitFor({ state: "detached" });
  });

  test("a link to an unstored request shows which requests the log stores, and the request once it is stored", async () => {
    const { page, ready } = await open();
    const id = await send(ready);
    let isStored = false;
    await page.route("**/v1/requests?*", async (route) => {
      if (isStored) return route.fallback();
      const response = await route.fetch();
      const json = await response.json();
      return route.fulfill({
        response,
        json: { ...json, data: { requests: [], has_more: false } },
      });
    });
    await page.goto(`${ready.base_url}/app/logs?request=${id}`);

    const dialog = page.getByRole("dialog", { name: "Request" });
    await dialog.getByText("No request with this id is among those that are stored").waitFor();
    // An error would be tried again for as long as the page is open.
    expect(await dialog.getByRole("alert").count()).toBe(0);
    isStored = true;
    await dialog.getByText("INVALID_REQUEST").waitFor();
  });

  test("a poll that fails without a network adds no error to the frame's message", async () => {
    const opened = await open({ path: "logs" });
    const { page, ready } = opened;
    await findRow(opened, await send(ready)).waitFor();
    const asked = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<void>();
    await page.route("**/v1/requests?*", async (route) => {
      asked.resolve();
      await lost.promise;
      await route.abort();
    });

    await asked.promise;
    await page.context().setOffline(true);
    await page.getByText("You are offline.").waitFor();
    const failed = page.waitForEvent("requestfailed");
    lost.resolve();
    await failed;
    await page.evaluate(
      "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))",
    );

    expect(await page.getByText("The service did not respond").count()).toBe(0);
    await page.unroute("**/v1/requests?*");
    await page.context().setOffline(false);
    await findRow(opened, await send(ready)).waitFor();
  });
});

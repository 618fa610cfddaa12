import { expect, test } from "vitest";
import {
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  REFUSED,
  waitUntilLoaded,
} from "./browser.ts";
import { createJob } from "./jobs.ts";

const heading = ({ page }: OpenedPage, name: string) =>
  page.getByRole("heading", { name, level: 1 });
const focused = ({ page }: OpenedPage) =>
  page.evaluate(
    "document.activeElement.textContent || document.activeElement.id",
  ) as Promise<string>;

describeInBrowser("the dashboard's frame", ({ open }) => {
  test("opening a screen needs no reload, sets focus and title, and makes a screen reader announce it", async () => {
    const opened = await open();
    const { page, requests } = opened;
    await heading(opened, "Overview").waitFor();
    const pagesBefore = requests.filter((one) => one === "GET /app/").length;

    await page.getByRole("link", { name: "Verify one address" }).click();
    await heading(opened, "Verify one address").waitFor();

    expect(await page.title()).toBe("Verify one address · Mailproof");
    expect(await page.locator("[aria-live=polite].unseen").textContent()).toBe(
      "Verify one address",
    );
    expect(
      await page.getByRole("link", { name: "Verify one address" }).getAttribute("aria-current"),
    ).toBe("page");
    await page.goBack();
    await heading(opened, "Overview").waitFor();
    expect(await focused(opened)).toBe("Overview");
    expect(requests.filter((one) => one === "GET /app/").length).toBe(pagesBefore);
  });

  test.each([
    "no/such/screen",
    // Its percent-encoding is not text.
    "lists/%E0%A4",
  ])("an unknown address shows an explanation and a link: %s", async (path) => {
    const opened = await open({ path });

    await heading(opened, "No such screen").waitFor();
    await checkScreen(opened, "no-such-screen");
    await opened.page.getByRole("link", { name: "Go to the overview" }).click();
    await heading(opened, "Overview").waitFor();
    expect(await opened.page.title()).toBe("Overview · Mailproof");
  });

  test("Trusted Types refuse to turn text into markup", async () => {
    const opened = await open();
    await heading(opened, "Overview").waitFor();

    const tried = (await opened.page.evaluate(`(() => {
      const element = document.createElement("div");
      try {
        element.innerHTML = "<b>bold</b>";
        return "written";
      } catch (error) {
        return error.name;
      }
    })()`)) as string;

    expect(tried).toBe("TypeError");
    await expect.poll(() => opened.complaints.join()).toContain("require-trusted-types-for");
  });

  test("every screen distinguishes a test key from a live one", async () => {
    const withTest = await open();
    await heading(withTest, "Overview").waitFor();
    expect(await withTest.page.getByText("Test data.").isVisible()).toBe(true);

    const withLive = await open({ key: "live" });
    await heading(withLive, "Overview").waitFor();
    expect(await withLive.page.getByText("Test data.").count()).toBe(0);
    await withLive.page.getByText("1,000,000 credits").first().waitFor();
  });

  test("Ctrl K opens every screen by keyboard alone, and Esc closes it and returns the focus", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    const search = page.getByRole("button", { name: "Go to" });
    await search.focus();
    // The browser says later that a dialog closed. Here it never does, and the next key works as well.
    await page.evaluate(
      `addEventListener("close", (event) => event.stopImmediatePropagation(), { capture: true })`,
    );

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.className")).toBe("search");

    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    const titles = await page.getByRole("option").allInnerTexts();
    const links = await page.locator(".side nav a").allTextContents();
    expect(titles.slice(0, links.length).map((text) => text.split("\n")[0])).toEqual(links);
    await page.keyboard.type("verify one");
    expect(await page.getByRole("option").allTextContents()).toEqual([
      expect.stringMatching(/^Verify one address/),
    ]);
    await page.keyboard.press("Enter");
    await heading(opened, "Verify one address").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Ctrl K finds a list by its name and by its id", async () => {
    const opened = await open();
    const { page } = opened;
    const job = await createJob(opened, ["ann@x.com"], "Newsletter of October");
    await heading(opened, "Overview").waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.type("october");
    await page.getByRole("option", { name: "Newsletter of October" }).waitFor();
    await page.keyboard.press("Enter");
    await heading(opened, "Newsletter of October").waitFor();
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`/lists/${job}$`));

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(job);
    await page.getByRole("option", { name: "Newsletter of October" }).waitFor();
    expect(await page.getByRole("option").count()).toBe(1);
  });

  const post = ({ ready }: OpenedPage, path: string, body: unknown) =>
    fetch(ready.base_url + path, {
      method: "POST",
      headers: { "x-api-key": ready.test_key, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test("Ctrl K finds a monitored domain by name and opens the check of a typed one", async () => {
    const opened = await open();
    const { page } = opened;
    await post(opened, "/v1/deliverability/monitors", { domain: "watched.example" });
    await heading(opened, "Overview").waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("watched");
    await page.getByRole("option", { name: "watched.example Domain" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/domains\/watched\.example$/);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("https://Other.example/");
    await page.getByRole("option", { name: "Check of other.example" }).click();
    await page.waitForURL(/domains\/other\.example$/);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Ctrl K opens the request or the list of a typed id", async () => {
    const opened = await open();
    const { page } = opened;
    const refused = await post(opened, "/v1/verify", {});
    const id = refused.headers.get("x-request-id") ?? "";
    await heading(opened, "Overview").waitFor();

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(` ${id} `);
    await page.getByRole("option", { name: `Request ${id}` }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`logs\\?request=${id}$`));
    await page.getByRole("dialog", { name: "Request" }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();

    // One that is not among the newest, or another key's.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("job_00000000-0000");
    await page.getByRole("option", { name: "List job_00000000-0000" }).click();
    await page.waitForURL(/lists\/job_00000000-0000$/);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Ctrl K finds pages of the manual, and Enter opens one before its code has loaded", async () => {
    const opened = await open();
    const { page, ready, requests } = opened;
    await heading(opened, "Overview").waitFor();
    expect(requests.filter((one) => /search\.json|palette-commands/.test(one))).toEqual([]);

    const come = Promise.withResolvers<void>();
    await page.route("**/palette-commands*", async (route) => {
      await come.promise;
      await route.fallback();
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("api documentation");
    await page.keyboard.press("Enter");
    come.resolve();
    await page.waitForURL(`${ready.base_url}/docs`);

    await page.goBack();
    await heading(opened, "Overview").waitFor();
    await page.keyboard.press("Control+k");
    // By its text, where no name has the word.
    await page.getByRole("combobox").fill("printable ascii");
    await page.getByRole("option", { name: "Paying once: Idempotency-Key Manual" }).waitFor();
    await page.getByRole("combobox").fill("conflict");
    await page.getByRole("option", { name: "IDEMPOTENCY_KEY_CONFLICT Manual" }).click();
    await page.waitForURL(`${ready.base_url}/docs/errors#IDEMPOTENCY_KEY_CONFLICT`);
  });

  test("a refused key closes Ctrl K, and the next key sees no places of the earlier one", async () => {
    const opened = await open({ path: "logs" });
    const { page, ready } = opened;
    await post(opened, "/v1/deliverability/monitors", { domain: "earlier.example" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Screen, list" }).fill("earlier");
    await page.getByRole("option", { name: "earlier.example Domain" }).waitFor();

    let isRefused = true;
    await page.route("**/v1/**", (route) =>
      isRefused ? route.fulfill({ ...REFUSED, status: 401 }) : route.fallback(),
    );
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.getByLabel("API key").fill(ready.live_key);
    isRefused = false;
    await page.keyboard.press("Enter");

    await page.locator(".bar .balance b").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Ctrl K reports that its code cannot be loaded", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    await page.route("**/palette-commands*", (route) => route.abort());

    await page.keyboard.press("Control+k");
    await page.getByText("The commands could not be loaded. Reload the page.").waitFor();
    expect(await page.getByRole("option").count()).toBe(0);
  });

  test("the palette of Ctrl K is accessible, reports an empty result and keeps Tab inside", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await checkScreen(opened, "palette");

    for (let times = 0; times < 4; times++) await page.keyboard.press("Tab");
    expect(
      await page.evaluate(
        "document.activeElement === document.body || document.querySelector('dialog[open]').contains(document.activeElement)",
      ),
    ).toBe(true);
    await page.getByRole("combobox").fill("zebra");
    await page.getByText("No matches.").waitFor();
  });

  test("the theme follows the system until the user chooses one, and keeps the choice", async () => {
    const opened = await open({ colorScheme: "dark" });
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    const readBackground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await readBackground()).toBe("rgb(16, 18, 22)");

    await page.getByRole("button", { name: "Account" }).click();
    await page.getByLabel("Light").check();
    expect(await readBackground()).toBe("rgb(255, 255, 255)");
    await page.reload();
    await heading(opened, "Overview").waitFor();

    expect(await readBackground()).toBe("rgb(255, 255, 255)");
  });

  test("the account's menu is accessible, and Esc closes it", async () => {
    const opened = await open({ key: "live" });
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByText("Plan scale, live key").waitFor();

    await checkScreen(opened, "account-menu");
    await page.keyboard.press("Escape");

    expect(await page.getByText("Plan scale, live key").isVisible()).toBe(false);
    expect(await focused(opened)).toBe("Account");
  });

  test("a phone's menu works by keyboard, and a choice or Esc closes it", async () => {
    const opened = await open({ width: 375 });
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    const entry = page.getByRole("dialog").getByRole("link", { name: "Verify one address" });
    expect(await page.getByRole("link", { name: "Verify one address" }).count()).toBe(0);

    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await entry.waitFor();
    await checkScreen(opened, "menu", [375]);
    await page.keyboard.press("Escape");
    expect(await entry.isVisible()).toBe(false);
    expect(await focused(opened)).toBe("Menu");
    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await entry.press("Enter");
    await heading(opened, "Verify one address").waitFor();

    expect(await entry.isVisible()).toBe(false);
  });

  test("the first Tab reaches the link to the content", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();

    await page.keyboard.press("Tab");
    expect(await focused(opened)).toBe("Skip to content");
    await page.keyboard.press("Enter");

    expect(await page.evaluate("document.activeElement.id")).toBe("content");
  });

  test("a screen that failed to load reloads by itself when the API answers again", async () => {
    const opened = await open({ path: "no/such/screen", key: "live", isAlone: true });
    const { page, ready } = opened;
    await page.clock.install();
    await page.route("**/v1/**", (route) => route.fulfill(REFUSED));
    await page.goto(`${ready.base_url}/app/usage`);
    await page.getByRole("alert").nth(2).waitFor();
    await page.getByRole("button", { name: "Balance not loaded. Retry" }).waitFor();

    await page.unroute("**/v1/**");
    await page.clock.fastForward(30_000);

    await page.getByRole("alert").first().waitFor({ state: "detached" });
    expect(await page.getByRole("alert").count()).toBe(0);
    await waitUntilLoaded(opened);
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.locator(".bar .balance b").waitFor();
  });

  test("the bar shows the account's name beside the service's and hangs its menu from the button", async () => {
    const { page, ready } = await open();
    await page.locator(".account-of").waitFor();
    const response = await fetch(`${ready.base_url}/v1/account`, {
      headers: { "x-api-key": ready.test_key },
    });
    const { data } = (await response.json()) as { data: { name: string } };
    expect(await page.locator(".account-of").textContent()).toBe(data.name);

    const button = page.getByRole("button", { name: "Account" });
    await button.click();
    const menu = page.locator(".popover:popover-open");
    const [above, below] = [await button.boundingBox(), await menu.boundingBox()];
    expect(below?.y).toBeGreaterThan((above?.y ?? 0) + (above?.height ?? 0));
  });

  test("the frame shows that the network is missing until it returns", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();

    await page.context().setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "detached" });
    // A first load that lost its network shows its error until it is repeated.
    await page.getByRole("alert").first().waitFor({ state: "detached" });
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a screen whose code is gone shows the failure, and Retry reloads the page", async () => {
    const opened = await open();
    const { page } = opened;
    await heading(opened, "Overview").waitFor();
    await page.route("**/assets/verify-*.js", (route) => route.fulfill({ status: 404 }));

    await page.getByRole("link", { name: "Verify one address" }).click();
    await heading(opened, "This screen could not be loaded").waitFor();
    await page.unroute("**/assets/verify-*.js");
    await page.getByRole("button", { name: "Retry" }).click();

    await heading(opened, "Verify one address").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

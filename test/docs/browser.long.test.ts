import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { endpoints } from "@mailproof/api/endpoints";
import { createApiServer } from "@mailproof/local/server/server";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { given } from "../app/given.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { CHROMIUM_ABSENCE, CHROMIUM_OPTIONS, createPages } from "../servers/pages.ts";

const getPage = createPages((browser) => browser.newContext());

/** The least contrast (WCAG 2) of what stands on a ground of its own colour: it is mixed with what is below. */
const PALEST = `(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const light = (...colours) => {
    for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((one) => one / 255).map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = getComputedStyle(document.body).backgroundColor;
  return Math.min(...[...document.querySelectorAll(".status, .route .method")].map((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    const [dark, pale] = [light(page, backgroundColor, color), light(page, backgroundColor)].sort((a, b) => a - b);
    return (pale + 0.05) / (dark + 0.05);
  }));
})()`;

// The structure of the page, in a real browser: what is seen, and not how each pixel looks.
describeUnless(CHROMIUM_ABSENCE, "the docs page in a browser", () => {
  let browser: Browser;
  let server: Server;
  let base = "";
  let keys: Pick<Awaited<ReturnType<typeof given>>, "liveKey" | "testKey">;
  beforeAll(async () => {
    const { world, ...opened } = await given({ balance: 10 });
    keys = opened;
    server = createApiServer(world, () => undefined, endpoints).listen(0, "127.0.0.1");
    await once(server, "listening");
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch(CHROMIUM_OPTIONS);
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });

  type View = {
    readonly width: number;
    readonly colorScheme?: "light" | "dark";
    readonly path?: string;
    /** What the dashboard keeps in the tab. */
    readonly signedIn?: string;
  };

  const whenOpened = async ({ width, colorScheme = "light", path = "/docs", signedIn }: View) => {
    const session =
      signedIn !== undefined && `sessionStorage.setItem("mailproof.key", "${signedIn}");`;
    const page = await getPage(browser, { initScript: session || "" });
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: null, colorScheme });
    const complaints: string[] = [];
    const requestedUrls: string[] = [];
    page.on("console", (line) => void (line.type() === "error" && complaints.push(line.text())));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => requestedUrls.push(request.url()));
    await page.goto(base + path);
    return { page, complaints, asked: requestedUrls };
  };

  const isSeen = (page: Page, selector: string) => page.locator(selector).first().isVisible();

  test.each([360, 1440])("the docs page fits a screen of %i pixels", async (width) => {
    const { page, complaints, asked: requestedUrls } = await whenOpened({ width });

    const wide = await page.evaluate("document.documentElement.scrollWidth");

    expect(wide).toBeLessThanOrEqual(width);
    expect(complaints).toEqual([]);
    expect(
      requestedUrls.filter((url) => !url.startsWith(base) && !url.startsWith("data:")),
    ).toEqual([]);
  });

  test.each([360, 1440])(
    "the page of a topic fits %i pixels, shows one of eight languages and runs its script",
    async (width) => {
      const { page, complaints } = await whenOpened({ width, path: "/docs/verify-email" });

      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(
        width,
      );
      expect(complaints).toEqual([]);
      const languages = page.locator(".languages").first();
      await languages.getByRole("button", { name: "C#" }).click();
      expect(await languages.locator("figure:visible").allInnerTexts()).toEqual([
        expect.stringContaining("HttpRequestMessage"),
      ]);
      expect(await languages.locator("figure").count()).toBe(8);
    },
  );

  test.each([
    [375, "light"],
    [1920, "dark"],
  ] as const)("the status page fits %i pixels and passes axe: %s", async (...view) => {
    const [width, colorScheme] = view;
    const { page, complaints, asked } = await whenOpened({ width, colorScheme, path: "/status" });

    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
    const { violations }: any = await page.evaluate("axe.run()");
    expect(violations).toEqual([]);
    expect(complaints).toEqual([]);
    const paths = asked
      .filter((url) => !url.startsWith("data:"))
      .map((url) => new URL(url).pathname);
    expect(paths.toSorted()).toEqual(["/docs/style.css", "/status"]);
    expect(await page.getByRole("row", { name: "Webhooks" }).innerText()).toContain("works");
  });

  test("the docs page's light and dark schemes use different colours", async () => {
    const seen = [];
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await whenOpened({ width: 1440, colorScheme });
      seen.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    }

    expect(seen).toEqual(["rgb(255, 255, 255)", "rgb(16, 18, 22)"]);
  });

  test("the printed docs page uses dark text on white, fits the paper's width, and cuts off no line", async () => {
    const { page } = await whenOpened({ width: 1123, colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });

    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      "rgb(255, 255, 255)",
    );
    expect(await page.evaluate("document.querySelector('main').clientWidth")).toBe(1123);
    expect(await isSeen(page, ".side")).toBe(false);
    expect(await isSeen(page, ".copy")).toBe(false);
    expect(await isSeen(page, ".try")).toBe(false);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('pre')].filter((one) => one.clientHeight > 0 && one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth).length",
      ),
    ).toBe(0);
  });

  test.each(["light", "dark"] as const)(
    "every word of the docs page on a coloured background is readable: %s",
    async (colorScheme) => {
      const { page } = await whenOpened({ width: 1440, colorScheme });

      expect(await page.evaluate(PALEST)).toBeGreaterThanOrEqual(4.5);
    },
  );

  test("a table of the docs page beside a picture leaves space for its words", async () => {
    const { page } = await whenOpened({ width: 1280 });

    const widths: any = await page.evaluate(
      "[...document.querySelectorAll('#statuses tbody tr:first-child td')].map((one) => one.clientWidth)",
    );

    expect(widths[1]).toBeGreaterThan(widths[2]);
  });

  test("a fragment in the URL scrolls to its part of the docs page", async () => {
    const { page } = await whenOpened({ width: 1280 });
    const tops = [];
    for (const id of ["getUsage", "verifyFile", "shape-Issue"]) {
      await page.evaluate(`location.hash = "${id}"`);
      await page.waitForFunction(
        `scrollY > 0 && document.getElementById("${id}").getBoundingClientRect().top < 100`,
      );
      tops.push(
        await page.evaluate(`document.getElementById("${id}").getBoundingClientRect().top > 50`),
      );
    }

    expect(tops).toEqual([true, true, true]);
  });

  test("the docs page gives a phone a menu that closes after a choice", async () => {
    const { page } = await whenOpened({ width: 360 });
    expect(await isSeen(page, ".side")).toBe(false);

    await page.click(".menu");
    expect(await isSeen(page, ".side")).toBe(true);
    await page.click('.contents a[href="#findEmail"]');

    expect(await isSeen(page, ".side")).toBe(false);
    await page.waitForFunction("location.hash === '#findEmail'");
  });

  test("a search of the docs page leads to the part about its words", async () => {
    const { page, complaints } = await whenOpened({ width: 1440 });
    const parts = {
      refund: "errors",
      idempotency: "idempotency",
      "download csv": "downloadJob",
      "/v1/find": "findEmail",
      catch_all_confidence: "statuses",
      INSUFFICIENT_CREDITS: "INSUFFICIENT_CREDITS",
    };

    await page.keyboard.press("/");
    for (const [words, id] of Object.entries(parts)) {
      await page.keyboard.type(words);
      await page.locator(".found a").first().waitFor();
      const hashes = await page
        .locator(".found a")
        .evaluateAll((all: any[]) => all.map((one) => one.hash.slice(1)));
      expect(hashes.slice(0, 3), `for ${words}`).toContain(id);
      expect(await isSeen(page, `[id="${id}"]`), `${id} is seen`).toBe(true);
      await page.fill(".search input", "");
      await page.locator(".contents").waitFor();
    }
    expect(complaints).toEqual([]);
  });

  test("a search of a topic's page covers all pages and opens one by keyboard alone", async () => {
    const { page, complaints } = await whenOpened({ width: 1440, path: "/docs/verify-email" });

    await page.keyboard.press("/");
    await page.keyboard.type("insufficient");
    await page.locator(".found a", { hasText: "INSUFFICIENT_CREDITS" }).first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");

    await page.waitForURL(`${base}/docs/errors#INSUFFICIENT_CREDITS`);
    expect(complaints).toEqual([]);
  });

  test("a search of a topic's page loads its index at the first use and reports a failure", async () => {
    const { page, asked } = await whenOpened({ width: 1440, path: "/docs/errors" });
    expect(asked.filter((url) => url.endsWith("search.json"))).toEqual([]);
    await page.route("**/docs/search.json", (route) => route.abort());

    await page.fill(".search input", "refund");
    await page.getByText("The search could not be loaded.").waitFor();
    await page.unroute("**/docs/search.json");
    await page.fill(".search input", "refunds");
    await page.locator(".found a").first().waitFor();
  });

  test("a search of the docs page shows whole words around each hit", async () => {
    const { page } = await whenOpened({ width: 1440 });

    await page.fill(".search input", "credits_refunded");
    await page.locator(".found a").first().waitFor();

    expect(await page.locator(".found small").allTextContents()).toContainEqual(
      expect.stringMatching(/credits_refunded number /),
    );
  });

  test("the arrow keys choose a search result, and the docs page reports an empty result", async () => {
    const { page } = await whenOpened({ width: 1440 });
    await page.keyboard.press("/");
    await page.keyboard.type("rate limits");
    await page.keyboard.press("Enter");
    await page.waitForFunction("location.hash === '#rate-limits'");

    await page.fill(".search input", "zebra");
    await page.getByText("No results.").waitFor();
    await page.fill(".search input", "");
    await page.locator(".contents").waitFor();
    expect(await page.locator(".found li").count()).toBe(0);
  });

  test("every docs page links to the dashboard", async () => {
    for (const path of ["/docs", "/docs/verify-email"])
      for (const width of [360, 1440]) {
        const { page } = await whenOpened({ width, path });
        const link = page.getByRole("banner").getByRole("link", { name: "Dashboard" });
        expect(await link.getAttribute("href")).toBe("/app/");
        expect(await link.isVisible()).toBe(true);
      }
  });

  /** The first example of the operation. */
  const runFirst = (page: Page) => page.getByRole("button", { name: "Run" }).first().click();

  test("a docs example runs with a pasted test key and sends no live key", async () => {
    const { page, complaints, asked } = await whenOpened({
      width: 1440,
      path: "/docs/verify-email",
    });
    await runFirst(page);
    await page.getByLabel("Test key").fill(keys.liveKey);
    await page.keyboard.press("Enter");
    await page.getByText("Only a test key is sent from here.").waitFor();
    expect(asked.filter((url) => url.includes("/v1/"))).toEqual([]);

    await page.getByLabel("Test key").fill(` ${keys.testKey} `);
    await page.getByRole("button", { name: "Send" }).click();

    const ran = page.locator(".ran").first();
    await ran.locator("pre").waitFor();
    expect(await ran.innerText()).toMatch(/^200\s+in \d+ ms\s+req_/);
    expect(await ran.innerText()).toContain('"success": true');
    expect(complaints).toEqual([]);
    // It is asked for once.
    await page.getByRole("button", { name: "Run" }).nth(1).click();
    await page.locator(".ran").nth(1).locator("pre").waitFor();
  });

  test("Enter sends the key and returns to Run, and a docs example asks again for a refused key", async () => {
    const { page } = await whenOpened({ width: 1440, path: "/docs/verify-email" });
    await runFirst(page);
    await page.getByLabel("Test key").fill("mp_test_ümlaut");
    await page.keyboard.press("Enter");
    await page.getByText("Only a test key is sent from here.").waitFor();
    await page.getByLabel("Test key").fill(`${keys.testKey}0`);
    await page.keyboard.press("Enter");
    await page.locator(".ran pre", { hasText: "UNAUTHORIZED" }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Run");

    await page.keyboard.press("Enter");
    await page.getByLabel("Test key").fill(keys.testKey);
    await page.keyboard.press("Enter");
    await page.locator(".ran pre", { hasText: '"success": true' }).waitFor();
  });

  test("the examples of curl contain the tab's test key and run with it", async () => {
    const { page } = await whenOpened({
      width: 1440,
      path: "/docs/verify-email",
      signedIn: keys.testKey,
    });
    const sample = await page.locator(".languages pre").first().textContent();
    expect(sample).toContain(`X-Api-Key: ${keys.testKey}"`);

    await runFirst(page);
    await page.getByText('"success": true').first().waitFor();
  });

  test("a docs example neither shows nor sends a live key of the tab", async () => {
    const { page, asked } = await whenOpened({
      width: 1440,
      path: "/docs/verify-email",
      signedIn: keys.liveKey,
    });
    expect(await page.content()).not.toContain(keys.liveKey);

    await runFirst(page);
    await page.getByLabel("Test key").waitFor();
    expect(asked.filter((url) => url.includes("/v1/"))).toEqual([]);
  });

  test.each([
    ["/docs/get-account", "light"],
    ["/docs/quick-start", "dark"],
  ] as const)(
    "axe finds no violation in %s with its search and a finished example: %s",
    async (path, colorScheme) => {
      const { page } = await whenOpened({
        width: 1440,
        path,
        signedIn: keys.testKey,
        colorScheme,
      });
      await runFirst(page);
      await page.locator(".ran pre").first().waitFor();
      await page.fill(".search input", "refund");
      await page.locator(".found a").first().waitFor();

      await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
      const { violations }: any = await page.evaluate("axe.run()");

      expect(
        violations.map(({ id, nodes }: any) => [id, nodes.map(({ html }: any) => html)]),
      ).toEqual([]);
    },
  );

  test("every docs example can run, except those that delete", async () => {
    const { page } = await whenOpened({ width: 1440 });

    const examples = page.locator(".show .languages");
    const all = await examples.count();
    const deleting = examples.filter({ hasText: "-X DELETE" });
    const run = { name: "Run", includeHidden: true } as const;
    expect(await deleting.count()).toBeGreaterThan(3);
    expect(await deleting.getByRole("button", run).count()).toBe(0);
    expect(await examples.getByRole("button", run).count()).toBe(all - (await deleting.count()));
  });

  test("a chosen language applies to every docs example and to the next visit", async () => {
    const { page } = await whenOpened({ width: 1440 });
    await page.click("#quick-start .tabs button:has-text('Python')");
    const seen = () =>
      page.locator("#verifyEmail .language.on").first().getAttribute("data-language");

    expect(await seen()).toBe("Python");
    await page.reload();
    expect(await seen()).toBe("Python");
  });

  test("the copy button of a docs example copies the printed program, which runs", async () => {
    const { page } = await whenOpened({ width: 1440 });
    const block = page.locator("#quick-start .language.on").first();
    const text = await block.locator("pre").textContent();
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { globalThis.copied = text; } } })",
    );

    await block.hover();
    await block.locator(".copy").click();

    expect(await page.evaluate("globalThis.copied")).toBe(text);
    expect(text).toMatch(/^curl -s 'http:\/\/127\.0\.0\.1:\d+\/v1\/verify'/);
  });

  test("the docs page without scripts shows its whole text", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${base}/docs`);

    expect(await isSeen(page, ".side")).toBe(true);
    expect(await isSeen(page, "#verifyEmail .language[data-language='Python']")).toBe(true);
    await context.close();
  });
});

import { existsSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeUnless } from "../available.ts";
import { whenListening } from "../local/listening.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => existsSync(path),
);

// The structure of the page, in a real browser: what is seen, and not how each pixel looks.
describeUnless(
  CHROMIUM === undefined ? "there is no Chromium; apt-get install chromium" : null,
  "the docs page in a browser",
  () => {
    let browser: Browser;
    beforeAll(async () => {
      // As root there is no sandbox, and the page is our own.
      browser = await chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
    });
    afterAll(() => browser.close());

    type View = { readonly width: number; readonly colorScheme?: "light" | "dark" };

    const whenOpened = async ({ width, colorScheme = "light" }: View) => {
      const { port } = await whenListening(...endpoints);
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on("console", (line) => void (line.type() === "error" && complaints.push(line.text())));
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(`http://127.0.0.1:${port}/docs`);
      return { page, complaints, asked, base: `http://127.0.0.1:${port}` };
    };

    const isSeen = (page: Page, selector: string) => page.locator(selector).first().isVisible();

    test.each([360, 768, 1440])("nothing is wider than a screen of %i pixels", async (width) => {
      const { page, complaints, asked, base } = await whenOpened({ width });

      const wide = await page.evaluate("document.documentElement.scrollWidth");

      expect(wide).toBeLessThanOrEqual(width);
      expect(complaints).toEqual([]);
      expect(asked.filter((url) => !url.startsWith(base) && !url.startsWith("data:"))).toEqual([]);
    });

    test("light and dark have colours of their own", async () => {
      const seen = [];
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await whenOpened({ width: 1440, colorScheme });
        seen.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
      }

      expect(seen).toEqual(["rgb(255, 255, 255)", "rgb(15, 20, 27)"]);
    });

    test("a phone has a menu, which closes when something is chosen", async () => {
      const { page } = await whenOpened({ width: 360 });
      expect(await isSeen(page, ".side")).toBe(false);

      await page.click(".menu");
      expect(await isSeen(page, ".side")).toBe(true);
      await page.click('.contents a[href="#findEmail"]');

      expect(await isSeen(page, ".side")).toBe(false);
      expect(new URL(page.url()).hash).toBe("#findEmail");
    });

    test.each([
      ["refund", "#errors"],
      ["idempotency", "#idempotency"],
      ["download csv", "#downloadJob"],
      ["/v1/find", "#findEmail"],
      ["catch_all_confidence", "#statuses"],
    ])("a search for %s leads to %s", async (words, hash) => {
      const { page } = await whenOpened({ width: 1440 });

      await page.keyboard.press("/");
      await page.keyboard.type(words);
      const first = page.locator(".found a");
      const hashes = await first.evaluateAll((all: any[]) => all.map((one) => one.hash));

      expect(hashes.slice(0, 3)).toContain(hash);
    });

    test("the keys alone choose a result, and nothing found is said", async () => {
      const { page } = await whenOpened({ width: 1440 });
      await page.keyboard.press("/");
      await page.keyboard.type("rate limits");
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).hash).toBe("#rate-limits");

      await page.fill(".search input", "zebra");
      expect(await page.locator(".found .none").textContent()).toMatch(/Nothing/);
      await page.fill(".search input", "");
      expect(await isSeen(page, ".contents")).toBe(true);
    });

    test("a language that is chosen once is chosen everywhere, and the next time", async () => {
      const { page } = await whenOpened({ width: 1440 });
      await page.click("#quick-start .tabs button:has-text('Python')");
      const seen = () =>
        page.locator("#verifyEmail .language.on").first().getAttribute("data-language");

      expect(await seen()).toBe("Python");
      await page.reload();
      expect(await seen()).toBe("Python");
    });

    test("what is copied is what stands there, and runs", async () => {
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

    test("without scripts everything is still there to be read", async () => {
      const { port } = await whenListening(...endpoints);
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${port}/docs`);

      expect(await isSeen(page, ".side")).toBe(true);
      expect(await isSeen(page, "#verifyEmail .language[data-language='Python']")).toBe(true);
      await context.close();
    });
  },
);

import { existsSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";

export const CHROMIUM = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));

/** Why a suite cannot open pages. */
export const CHROMIUM_ABSENCE =
  CHROMIUM === undefined ? "there is no Chromium; apt-get install chromium" : null;

/** The pages are our own, and as root there is no sandbox. */
export const CHROMIUM_OPTIONS = { executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] };

/** The page is blank again, with an empty storage and one entry in its history. */
const resetPage = async (page: Page): Promise<void> => {
  page.removeAllListeners();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().setOffline(false);
  // The page goes there by itself: sent by the debugger, it would get another process each time.
  await page.evaluate("location.replace('about:blank')");
  await page.waitForURL("about:blank");
  // The blank document is still of the last one's origin.
  await page.evaluate("sessionStorage.clear(); localStorage.clear()");
  await page.mouse.move(-1, -1);
  const session = await page.context().newCDPSession(page);
  await session.send("Page.resetNavigationHistory");
  await session.detach();
};

export type PageRequest = {
  /** Runs in each document before its own scripts. */
  readonly initScript?: string;
  /** A context that no other test gets: the test replaces the clock, or changes something else that resetPage leaves. */
  readonly isAlone?: boolean;
};

/**
 * Gives each test a page. The next test gets the same one when the test has passed, because a new context costs five times
 * the processor time of a visit: it starts processes and compiles the scripts again.
 */
export const createPages = (createContext: (browser: Browser) => Promise<BrowserContext>) => {
  const idlePages = new Map<Browser, Page[]>();
  return async (browser: Browser, { initScript = "", isAlone = false }: PageRequest = {}) => {
    const idle = idlePages.get(browser) ?? [];
    idlePages.set(browser, idle);
    const page =
      (isAlone ? undefined : idle.pop()) ?? (await (await createContext(browser)).newPage());
    page.setDefaultTimeout(100_000);
    const context = page.context();
    const script = await page.addInitScript(initScript);
    onTestFinished(async ({ task }) => {
      const isClean =
        !isAlone &&
        task.result?.state === "pass" &&
        !page.isClosed() &&
        context.pages().length === 1;
      if (!isClean) return context.close();
      const keep = async (): Promise<void> => {
        await script.dispose();
        await resetPage(page);
        idle.push(page);
      };
      // A test may end on a blank page, from which the storage of its screens cannot be cleared.
      await keep().catch(() => context.close());
    });
    return page;
  };
};

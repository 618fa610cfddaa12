import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { CHROMIUM, OPERATOR_KEY, startServer } from "./server.ts";

// One server and one browser for every file of this folder, in processes of their own: a start of each takes as long as
// a test. A suite has an account of its own there, and a test a context of its own.

export const setup = async ({
  provide,
}: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (CHROMIUM === undefined) return undefined;
  // As root there is no sandbox, and the page is our own.
  const browser = await chromium.launchServer({
    executablePath: CHROMIUM,
    args: ["--no-sandbox"],
  });
  const { stop, ...server } = await startServer({ OPERATOR_KEY });
  provide("dashboard", { server, browser: browser.wsEndpoint() });
  return async () => {
    await browser.close();
    await stop();
  };
};

import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { CHROMIUM_ABSENCE, CHROMIUM_OPTIONS } from "../servers/pages.ts";
import { OPERATOR_KEY, startServer } from "./server.ts";

// One server for every file of this folder, and one browser for every worker, in their own processes: a start of each
// takes as long as a test. A suite has its own account there; tests of a worker have one page after the other
// (test/servers/pages.ts). A browser has one clipboard, so two files at once cannot share it.

export const setup = async ({
  provide,
  config,
}: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (CHROMIUM_ABSENCE !== null) return undefined;
  const browsers = await Promise.all(
    Array.from({ length: config.maxWorkers }, () => chromium.launchServer(CHROMIUM_OPTIONS)),
  );
  const { stop, ...server } = await startServer({ OPERATOR_KEY });
  provide("dashboard", { server, browsers: browsers.map((browser) => browser.wsEndpoint()) });
  return async () => {
    await Promise.all(browsers.map((browser) => browser.close()));
    await stop();
  };
};

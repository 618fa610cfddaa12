import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { CHROMIUM_ABSENCE, CHROMIUM_OPTIONS, createPages } from "../servers/pages.ts";
import { type Mood, serveGuard, serveShop } from "./page.ts";

/** A suite that opens pages in one browser. A page that complains of anything fails its test. */
export const describeInChromium = (
  name: string,
  suite: (tools: ReturnType<typeof openIn>) => void,
): void =>
  describeUnless(CHROMIUM_ABSENCE, name, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch(CHROMIUM_OPTIONS);
    });
    afterAll(() => browser.close());
    suite(openIn(() => browser));
  });

/** On a busy machine an answer may take longer than a form waits. Tests of the wait have a clock of their own. */
const WAIT_LONGER = `{
  const original = setTimeout;
  window.setTimeout = (run, ms, ...rest) => original(run, ms === 2_000 ? 100_000 : ms, ...rest);
}`;

const getPage = createPages((browser) => browser.newContext());

const openIn = (getBrowser: () => Browser) => {
  const whenOpened = async (url: string, isAlone = false): Promise<Page> => {
    const page = await getPage(getBrowser(), { initScript: WAIT_LONGER, isAlone });
    const complaints: string[] = [];
    page.on("console", (line) => {
      // What the network did, the browser says by itself.
      if (line.type() === "error" && !line.text().startsWith("Failed to load resource"))
        complaints.push(line.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    onTestFinished(() => expect(complaints).toEqual([]));
    await page.goto(url);
    return page;
  };

  const givenShop = async (
    mood: Mood | ((email: string) => Mood),
    shop = {},
    { isAlone = false } = {},
  ) => {
    const guard = await serveGuard(typeof mood === "function" ? mood : () => mood);
    const { url, sent } = await serveShop({ api: guard.url, ...shop });
    return { page: await whenOpened(url, isAlone), sent, asked: guard.asked };
  };

  return { whenOpened, givenShop };
};

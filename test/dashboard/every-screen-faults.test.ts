import { expect, test } from "vitest";
import { type OpenedPage, REFUSED, retryAll, waitUntilLoaded } from "./browser.ts";
import { describeEveryScreen } from "./every-screen.ts";

/** They show nothing of the API before a person asks for something. */
const WITHOUT_DATA = ["verify", "lists/new", "find"];

const isDrawn = ({ page }: OpenedPage) => page.locator("main h1").waitFor();

describeEveryScreen(({ screens, openScreen }) => {
  test.each(screens)(
    "/app/$path: a 503 is its sentence, the request's id and Retry, which loads it",
    async (screen) => {
      const opened = await openScreen(screen);
      const { page } = opened;
      await waitUntilLoaded(opened);
      const heading = await page.locator("main h1").textContent();
      await page.route("**/v1/**", (route) => route.fulfill(REFUSED));

      await page.reload();
      await waitUntilLoaded(opened);
      const alerts = page.locator("main").getByRole("alert");
      expect((await alerts.count()) === 0, "whether it is listed in WITHOUT_DATA").toBe(
        WITHOUT_DATA.includes(screen.path),
      );
      for (const alert of await alerts.all()) {
        expect(await alert.textContent()).toContain("cannot read its own state right now");
        expect(await alert.textContent()).toContain("req_refused");
      }

      await page.unroute("**/v1/**");
      await retryAll(page);
      expect(await page.locator("main h1").textContent()).toBe(heading);
    },
  );

  test.each(screens)(
    "/app/$path: what has not been answered is waited for in words, and nothing turns",
    async (screen) => {
      const opened = await openScreen(screen);
      const { page } = opened;
      await waitUntilLoaded(opened);
      await page.route("**/v1/**", () => {});

      await page.reload();
      await isDrawn(opened);
      const waiting = page.locator("main .waiting");
      if (!WITHOUT_DATA.includes(screen.path)) await waiting.first().waitFor();

      const texts = await waiting.allTextContents();
      expect(texts.filter((text) => !/^Loading the \S.* …$/.test(text))).toEqual([]);
      expect(await page.locator("main").locator("progress, [class*=spin]").count()).toBe(0);
    },
  );
});

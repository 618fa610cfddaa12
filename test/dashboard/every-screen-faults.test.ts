import { expect, test } from "vitest";
import { type OpenedPage, REFUSED, retryAll, waitUntilLoaded } from "./browser.ts";
import { describeEveryScreen } from "./every-screen.ts";

/** They show nothing of the API before a person asks for something. */
const WITHOUT_DATA = ["verify", "lists/new", "find"];

const isDrawn = ({ page }: OpenedPage) => page.locator("main h1").waitFor();

describeEveryScreen(({ screens, openScreen }) => {
  test.each(screens)(
    "/app/$path states its loading, and shows a 503 with the request's id and a Retry that loads it",
    async (screen) => {
      const opened = await openScreen(screen);
      const { page } = opened;
      await waitUntilLoaded(opened);
      const heading = await page.locator("main h1").textContent();
      const main = page.locator("main");
      const hasData = !WITHOUT_DATA.includes(screen.path);

      await page.route("**/v1/**", () => {});
      await page.reload();
      await isDrawn(opened);
      const waiting = main.locator(".waiting");
      if (hasData) await waiting.first().waitFor();
      const texts = await waiting.allTextContents();
      expect(texts.filter((text) => !/^Loading the \S.* …$/.test(text))).toEqual([]);
      expect(await main.locator("progress, [class*=spin]").count()).toBe(0);

      // The newest route answers.
      await page.route("**/v1/**", (route) => route.fulfill(REFUSED));
      await page.reload();
      await waitUntilLoaded(opened);
      const alerts = main.getByRole("alert");
      expect((await alerts.count()) > 0, "whether it is listed in WITHOUT_DATA").toBe(hasData);
      for (const alert of await alerts.all()) {
        expect(await alert.textContent()).toContain("cannot read its own state right now");
        expect(await alert.textContent()).toContain("req_refused");
      }

      await page.unroute("**/v1/**");
      await retryAll(page);
      // A person's session loads first, and then the screen.
      await page.getByRole("heading", { name: heading ?? "", level: 1 }).waitFor();
      expect(await page.locator("main h1").textContent()).toBe(heading);
    },
  );
});

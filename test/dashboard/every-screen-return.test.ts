import { expect, test } from "vitest";
import { waitUntilLoaded } from "./browser.ts";
import { describeEveryScreen, readScreen } from "./every-screen.ts";

describeEveryScreen(({ screens, openScreen }) => {
  test.each(screens)(
    "/app/$path survives a reload and Back, and keeps its content without a network",
    async (screen) => {
      const opened = await openScreen(screen);
      const { page } = opened;
      await waitUntilLoaded(opened);
      const shownBefore = await readScreen(opened);
      expect(shownBefore.title).toBe(`${shownBefore.heading} · Mailproof`);
      // The navigation has it, or the screen that leads to it, and no other one.
      expect(await page.locator(".side a[aria-current]").count()).toBe(1);

      await page.reload();
      await waitUntilLoaded(opened);
      expect(await readScreen(opened)).toEqual(shownBefore);

      const other = screens.find(({ path, icon }) => icon && path !== screen.path);
      await page
        .locator(".side")
        .getByRole("link", { name: other?.title ?? "", exact: true })
        .click();
      await page.getByRole("heading", { name: other?.title ?? "", level: 1 }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: shownBefore.heading ?? "", level: 1 }).waitFor();
      await waitUntilLoaded(opened);
      expect(await readScreen(opened)).toEqual(shownBefore);

      const shown = await page.locator("main").innerText();
      await page.context().setOffline(true);
      await page.getByText("You are offline.").waitFor();
      expect(await page.locator("main").innerText()).toContain(shown.slice(0, 200));
      await page.context().setOffline(false);
      await page.getByText("You are offline.").waitFor({ state: "detached" });
      await page.getByRole("alert").first().waitFor({ state: "detached" });
      await waitUntilLoaded(opened);
      expect(await readScreen(opened)).toEqual(shownBefore);
      expect(opened.complaints).toEqual([]);
    },
  );
});

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { checkScreen, waitUntilLoaded } from "./browser.ts";
import { describeEveryScreen, type ScreenEntry } from "./every-screen.ts";

/** What Tab should reach. Of radio buttons with one name the browser's own keys lead to the others. */
const listReachable = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled)
    .filter((element) => element.type !== "radio" || element.checked)
    .map((element, at) => {
      element.dataset.tab = at + " " + (element.textContent.trim() || element.id).slice(0, 40);
      return element.dataset.tab;
    })`);

/** Which element has the focus, and why a person would not see that it has. */
const readFocus = (page: Page): Promise<{ readonly tab?: string; readonly fault?: string }> =>
  page.evaluate(`(() => {
    const element = document.activeElement;
    if (element === document.body) return {};
    const shown = element.classList.contains("unseen") ? element.closest("label") : element;
    const style = getComputedStyle(shown);
    const box = shown.getBoundingClientRect();
    const isOutlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return {
      tab: element.dataset.tab,
      ...(!isOutlined && { fault: "has no outline" }),
      ...(!isInside && { fault: "is outside the window" }),
    };
  })()`);

const MOVING = `[...document.querySelectorAll("*")].flatMap((element) => {
  const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
  const isStill = animationName === "none" && scrollBehavior !== "smooth" &&
    transitionDuration.split(",").every((time) => parseFloat(time) === 0);
  return isStill ? [] : [element.outerHTML.slice(0, 80)];
})`;

const nameOf = (screen: ScreenEntry) => screen.path.replaceAll(/\W+/g, "-") || "start";

describeEveryScreen(({ screens, openScreen, isOperator }) => {
  test.each(screens)(
    "/app/$path passes the checks of Tab, axe, widths, console, requests and reduced motion",
    async (screen) => {
      const opened = await openScreen(screen);
      const { page } = opened;
      await waitUntilLoaded(opened);
      expect(await page.evaluate(MOVING)).toEqual([]);
      const expected = await listReachable(page);
      const reached: string[] = [];
      const faults: string[] = [];

      await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
      for (let presses = 0; presses < expected.length + 5; presses++) {
        await page.keyboard.press("Tab");
        const { tab, fault } = await readFocus(page);
        if (tab === undefined) continue;
        reached.push(tab);
        if (fault) faults.push(`${tab} ${fault}`);
      }
      expect(expected.length).toBeGreaterThan(5);
      expect(expected.filter((one) => !reached.includes(one))).toEqual([]);
      expect(faults).toEqual([]);

      await checkScreen(
        opened,
        `screen-${isOperator ? "operator-" : ""}${nameOf(screen)}`,
        // The screen's own tests have it at each width, with more in it.
        [375],
      );
      expect(await page.locator("main").getByRole("alert").allTextContents()).toEqual([]);
    },
  );
});

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, type OpenedPage, REFUSED } from "./browser.ts";
import { callApi, createJob, waitForJob } from "./jobs.ts";

// What is true of every screen, whatever it shows: a new one is tried as soon as it is in packages/dashboard/src/screens.ts.

type ScreenEntry = { readonly path: string; readonly title: string; readonly icon?: string };

// Its file leads to components, which the compiler reads with the settings of their own package alone.
const SCREENS_FILE = "../../packages/dashboard/src/screens.ts";
const { SCREENS, OPERATOR_SCREENS } = (await import(SCREENS_FILE)) as {
  readonly SCREENS: readonly ScreenEntry[];
  readonly OPERATOR_SCREENS: readonly ScreenEntry[];
};

const OPERATOR_KEY = `mp_operator_${"k".repeat(32)}`;
const DOMAIN = "valid.lab.mailproof.test";

/** They show nothing of the API before a person asks for something. */
const WITHOUT_DATA = ["verify", "lists/new", "find"];

type Opened = Pick<OpenedPage, "ready">;

/** A test key's mail arrives by itself. */
const waitForMail = (opened: Opened, id: string): Promise<void> =>
  expect
    .poll(async () => (await callApi(opened, `GET /v1/deliverability/tests/${id}`)).status, {
      timeout: 60_000,
    })
    .toBe("received");

/** Of each screen whose path has a parameter: the address of one that exists. */
const createTargets = async (opened: Opened): Promise<Readonly<Record<string, string>>> => {
  const emails = ["valid@x.com", "invalid@x.com", "risky@x.com"];
  const job = await createJob(opened, emails, "Customers");
  await waitForJob(opened, job);
  await callApi(opened, "POST /v1/deliverability/check", { domain: DOMAIN });
  const webhook = await callApi(opened, "POST /v1/webhooks", {
    url: "https://example.com/in",
    events: ["job.completed"],
  });
  const { test_id: mailTest } = await callApi(opened, "POST /v1/deliverability/tests", {});
  await waitForMail(opened, mailTest);
  return {
    "lists/:id": `lists/${job}`,
    "domains/:domain": `domains/${DOMAIN}`,
    "domains/:domain/progress": "domains/unaligned.example/progress",
    "domains/:domain/reports": `domains/${DOMAIN}/reports`,
    "domains/:domain/mail-tests": "domains/example.com/mail-tests",
    "mail-tests/:id": `mail-tests/${mailTest}`,
    "webhooks/:id": `webhooks/${webhook.id}`,
    "accounts/:account": `accounts/${opened.ready.account_id}`,
  };
};

const isDrawn = ({ page }: OpenedPage) => page.locator("main h1").waitFor();

/** No request is under way, so what the screen shows of the API is there. */
const isLoaded = async (opened: OpenedPage): Promise<void> => {
  await isDrawn(opened);
  await opened.page.waitForLoadState("networkidle");
  // A screen of several parts waits for each of them.
  await expect.poll(() => opened.page.locator("main .waiting").count()).toBe(0);
};

const readScreen = async ({ page }: OpenedPage) => ({
  path: new URL(page.url()).pathname,
  heading: await page.locator("main h1").textContent(),
  title: await page.title(),
});

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

const describeScreens = (
  name: string,
  screens: readonly ScreenEntry[],
  key: "test" | { readonly secret: string },
): void =>
  describeInBrowser(
    name,
    ({ open }) => {
      let targets: Readonly<Record<string, string>> | undefined;
      const openScreen = async ({ path }: ScreenEntry) => {
        if (targets) return open({ path: targets[path] ?? path, key });
        const opened = await open({ path: "no/such/screen", key });
        targets = await createTargets(opened);
        await opened.page.goto(`${opened.ready.base_url}/app/${targets[path] ?? path}`);
        return opened;
      };

      test.each(screens)(
        "/app/$path: axe, widths, console, requests, and it is still where motion is reduced",
        async (screen) => {
          const opened = await openScreen(screen);
          await isLoaded(opened);

          expect(await opened.page.evaluate(MOVING)).toEqual([]);
          await checkScreen(
            opened,
            `screen-${key === "test" ? "" : "operator-"}${nameOf(screen)}`,
            // The screen's own tests have it at each width, with more in it.
            [375],
          );
          expect(await opened.page.locator("main").getByRole("alert").allTextContents()).toEqual(
            [],
          );
        },
      );

      test.each(screens)("/app/$path: a reload and Back return to it", async (screen) => {
        const opened = await openScreen(screen);
        const { page } = opened;
        await isLoaded(opened);
        const shownBefore = await readScreen(opened);
        expect(shownBefore.title).toBe(`${shownBefore.heading} · Mailproof`);
        // The navigation has it, or the screen that leads to it, and no other one.
        expect(await page.locator(".side a[aria-current]").count()).toBe(1);

        await page.reload();
        await isLoaded(opened);
        expect(await readScreen(opened)).toEqual(shownBefore);

        const other = screens.find(({ path, icon }) => icon && path !== screen.path);
        await page
          .locator(".side")
          .getByRole("link", { name: other?.title ?? "", exact: true })
          .click();
        await page.getByRole("heading", { name: other?.title ?? "", level: 1 }).waitFor();
        await page.goBack();
        await page.getByRole("heading", { name: shownBefore.heading ?? "", level: 1 }).waitFor();
        await isLoaded(opened);
        expect(await readScreen(opened)).toEqual(shownBefore);
      });

      test.each(screens)(
        "/app/$path: Tab reaches everything that can be used, and shows where it is",
        async (screen) => {
          const opened = await openScreen(screen);
          const { page } = opened;
          await isLoaded(opened);
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
        },
      );

      test.each(screens)(
        "/app/$path: a 503 is its sentence, the request's id and Retry, which loads it",
        async (screen) => {
          const opened = await openScreen(screen);
          const { page } = opened;
          await isLoaded(opened);
          const heading = await page.locator("main h1").textContent();
          await page.route("**/v1/**", (route) => route.fulfill(REFUSED));

          await page.reload();
          await isLoaded(opened);
          const alerts = page.locator("main").getByRole("alert");
          expect((await alerts.count()) === 0).toBe(WITHOUT_DATA.includes(screen.path));
          for (const alert of await alerts.all()) {
            expect(await alert.textContent()).toContain("cannot read its own state right now");
            expect(await alert.textContent()).toContain("req_refused");
          }

          await page.unroute("**/v1/**");
          for (let left = await alerts.count(); left > 0; left = await alerts.count()) {
            await alerts.first().getByRole("button", { name: "Retry" }).click();
            await alerts.nth(left - 1).waitFor({ state: "detached" });
          }
          expect(await page.locator("main h1").textContent()).toBe(heading);
        },
      );

      test.each(screens)(
        "/app/$path: what has not been answered is waited for in words, and nothing turns",
        async (screen) => {
          const opened = await openScreen(screen);
          const { page } = opened;
          await isLoaded(opened);
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

      test.each(screens)(
        "/app/$path: without a network it says so and keeps what it shows",
        async (screen) => {
          const opened = await openScreen(screen);
          const { page } = opened;
          await isLoaded(opened);
          const shownBefore = await readScreen(opened);
          const shown = await page.locator("main").innerText();

          await page.context().setOffline(true);
          await page.getByText("You are offline.").waitFor();
          expect(await page.locator("main").innerText()).toContain(shown.slice(0, 200));
          await page.context().setOffline(false);
          await page.getByText("You are offline.").waitFor({ state: "detached" });

          expect(await readScreen(opened)).toEqual(shownBefore);
          expect(opened.complaints).toEqual([]);
        },
      );
    },
    { OPERATOR_KEY },
  );

describeScreens("every screen of an account", SCREENS, "test");
describeScreens("every screen of an operator", OPERATOR_SCREENS, { secret: OPERATOR_KEY });

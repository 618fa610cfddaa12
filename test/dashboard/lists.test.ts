import { expect, test } from "vitest";
import { formatShares } from "../../packages/dashboard/src/format.ts";
import { toWaitSentence } from "../../packages/dashboard/src/screens/lists/wait-sentence.ts";
import { checkScreen, describeInBrowser } from "./browser.ts";
import { createJob, waitForJob } from "./jobs.ts";

test("the sentence about deferred rows contains their number and the next attempt's time", () => {
  const now = Date.parse("2026-11-23T04:00:00");
  const deferred = (count: number, reason: string) => ({
    deferred: {
      count,
      by_reason: { [reason]: count },
      next_attempt_at: new Date("2026-11-23T04:50:00").toISOString(),
    },
  });

  expect(toWaitSentence(deferred(149, "greylisted"), now)).toBe(
    "149 rows will be retried at 04:50.",
  );
  expect(toWaitSentence(deferred(1, "greylisted"), now)).toBe("1 row will be retried at 04:50.");
  expect(toWaitSentence(deferred(149, "greylisted"), now + 3_600_000)).toBe(
    "149 rows are being retried now.",
  );
  expect(toWaitSentence({}, now)).toBe(undefined);
});

describeInBrowser("the screen of lists", ({ open }) => {
  test("a list shows its name, state and results and links to its page", async () => {
    const opened = await open({ path: "lists" });
    const { page } = opened;
    const job = await createJob(
      opened,
      ["valid@x.com", "invalid@x.com", "risky@x.com"],
      "Customers",
    );
    await waitForJob(opened, job);
    await page.reload();

    const entry = page.getByRole("listitem").filter({ hasText: "Customers" });
    await entry.getByText("completed", { exact: false }).waitFor();
    expect(await entry.innerText()).toContain("3 of 3 addresses");
    // A group of statuses has the name of none of them.
    expect(
      (await entry.locator(".stacked-bar li").allInnerTexts()).map((text) =>
        text.replaceAll("\n", " ").replace(/ [\d.]+%$/, ""),
      ),
    ).toEqual(["Valid 1", "Risky, catch-all, role and spam traps 1", "Invalid and disposable 1"]);
    await checkScreen(opened, "lists");
    await entry.getByRole("link", { name: "Customers" }).click();
    await page.getByRole("heading", { name: "Customers", level: 1 }).waitFor();
  });

  test("a list that waits for a mail server shows the next attempt and the latest end", async () => {
    const opened = await open({ path: "lists", key: "live" });
    await createJob(opened, ["ada.lists@greylist.lab.mailproof.test"], "Waiting", "live_key");
    await opened.page.reload();

    const entry = opened.page.getByRole("listitem").filter({ hasText: "Waiting" });
    await entry
      .getByText(
        /^1 row will be retried at \d\d:\d\d\. The list ends by \d\d:\d\d at the latest\.$/,
      )
      .waitFor();
    expect(await entry.innerText()).toContain("0 of 1 address");
  });

  test("the screen reads a running list every two seconds, and never while the page is hidden", async () => {
    const opened = await open({ path: "lists", isAlone: true });
    const { page, requests } = opened;
    await createJob(opened, ["slow@x.com"], "Long");
    await page.clock.install();
    await page.reload();
    await page.getByRole("link", { name: "Long" }).waitFor();
    const count = () => requests.filter((one) => one.includes("/v1/jobs")).length;
    const show = (state: "visible" | "hidden") =>
      page.evaluate(`
        Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      `);
    const isRead = () => page.waitForResponse((response) => response.url().includes("/v1/jobs"));
    await show("hidden");
    const before = count();

    await page.clock.runFor(60_000);
    expect(count()).toBe(before);

    await page.clock.pauseAt(Date.now() + 3_600_000);
    await show("visible");
    await page.clock.runFor(1_900);
    expect(count()).toBe(before);
    const read = isRead();
    await page.clock.runFor(200);
    await read;
    expect(count()).toBe(before + 1);
  });

  test("the URL contains a chosen state, and Back returns to all lists", async () => {
    const opened = await open({ path: "lists" });
    const { page } = opened;
    await page.getByLabel("Show").selectOption("failed");

    await page.getByText("None of them is in this state.").waitFor();
    expect(page.url()).toContain("lists?status=failed");
    await page.reload();
    await page.getByText("None of them is in this state.").waitFor();
    expect(await page.getByLabel("Show").inputValue()).toBe("failed");
  });
});

test("the shares of all parts of a whole add up to 100%", () => {
  expect(formatShares([1, 1, 1], 3)).toEqual(["33.4%", "33.3%", "33.3%"]);
  expect(formatShares([2, 1], 3)).toEqual(["66.7%", "33.3%"]);
  // Of a list that is not finished, the parts come to what is finished.
  expect(formatShares([1, 1], 3)).toEqual(["33.3%", "33.3%"]);
  expect(formatShares([], 3)).toEqual([]);
});

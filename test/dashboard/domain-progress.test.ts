import { expect, test } from "vitest";
import {
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  readCopied,
  takePicture,
} from "./browser.ts";
import { callApi } from "./jobs.ts";

// The domains `ready` and `unaligned` of a test key have reports of the last 14 days.

const readProgress = (opened: OpenedPage, domain: string) =>
  callApi(opened, `GET /v1/deliverability/domains/${domain}`);

const check = (opened: OpenedPage, domain: string) =>
  callApi(opened, "POST /v1/deliverability/check", { domain });

/** The state of each step, in their order. */
const readWay = ({ page }: OpenedPage) => page.locator(".way .state").allInnerTexts();

const WORDS: Readonly<Record<string, string>> = {
  done: "done",
  failing: "to correct",
  open: "open",
};

describeInBrowser("the screen of a domain's progress", ({ open }) => {
  test("each step towards a strict DMARC policy links to its screen, and no open step is red", async () => {
    const opened = await open({ path: "domains/new.example/progress" });
    const { page } = opened;
    await page.getByText("Check new.example.").waitFor();
    expect(await readWay(opened)).toEqual(["open", "open", "open", "open"]);
    expect(await page.locator("main .bad").count()).toBe(0);
    await page.getByText("not yet", { exact: true }).waitFor();
    await checkScreen(opened, "domain-progress-new", [1280, 375]);
    await page.getByRole("link", { name: "Open the check" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("This domain has not been checked yet.").waitFor();
    const tabs = page.getByRole("navigation", { name: "About new.example" });
    expect(await tabs.getByRole("link").allInnerTexts()).toEqual([
      "Check",
      "Mail tests",
      "Reports",
      "Progress",
    ]);

    // A test key's mail is from example.com, whose policy is strict.
    await check(opened, "example.com");
    await callApi(opened, "POST /v1/deliverability/tests", {});
    await expect
      .poll(async () => (await readProgress(opened, "example.com")).steps[1].status, {
        timeout: 60_000,
      })
      .not.toBe("open");
    await page.goto(`${opened.ready.base_url}/app/domains/example.com/progress`);
    await page.locator(".way").waitFor();
    const progress = await readProgress(opened, "example.com");
    expect(await readWay(opened)).toEqual(progress.steps.map((one: any) => WORDS[one.status]));
    await page.locator(".way").getByRole("link", { name: "Seen in a test mail" }).click();
    await page.getByRole("heading", { name: "Mail test: example.com", level: 1 }).waitFor();
    expect(page.url()).toContain(progress.steps[1].test_id);
  });

  test("a ready domain shows the stricter record, and its button copies the record", async () => {
    const opened = await open();
    const { page, ready } = opened;
    await check(opened, "ready.example");
    await page.goto(`${ready.base_url}/app/domains/ready.example/progress`);
    const { next, steps, dmarc } = await readProgress(opened, "ready.example");
    expect(dmarc.ready).toBe(true);

    const panel = page.getByRole("region", { name: "Next step" });
    await panel.getByText(next.text).waitFor();
    expect(await readWay(opened)).toEqual(steps.map((one: any) => WORDS[one.status]));
    const value = panel.getByRole("button", { name: "Copy value" });
    expect(await readCopied(page, () => value.click())).toBe(next.record.value);
    expect(await panel.locator(".removed").innerText()).toContain(next.replaces[0].value);
    const readiness = page.getByRole("region", { name: "Is a stricter policy safe?" });
    expect(await readiness.locator(".state").innerText()).toBe("yes");
    expect(await readiness.innerText()).toContain(
      "The policy is none. The reports allow quarantine.",
    );
    expect(await readiness.innerText()).toContain("602 messages, 100% of them aligned");
    await checkScreen(opened, "domain-progress-ready");

    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 720, height: 1000 });
    expect(await page.locator("button:visible").count()).toBe(0);
    await takePicture(page, "domain-progress-printed");
  });

  test("a domain that is not ready shows every reason and the sender to correct, with its SPF term", async () => {
    const opened = await open();
    const { page, ready } = opened;
    await check(opened, "unaligned.example");
    await page.goto(`${ready.base_url}/app/domains/unaligned.example/progress`);
    const { next, steps, dmarc } = await readProgress(opened, "unaligned.example");
    await page.getByText(next.text).waitFor();

    expect(await readWay(opened)).toEqual(["done", "open", "to correct", "open"]);
    for (const text of steps.flatMap(({ missing }: any) => missing))
      expect(await page.locator(".way").innerText()).toContain(text);
    const readiness = page.getByRole("region", { name: "Is a stricter policy safe?" });
    expect(await readiness.locator(".state").innerText()).toBe("not yet");
    expect(await readiness.locator(".reasons > li").allInnerTexts()).toEqual(
      dmarc.reasons.map(({ text }: any) => text),
    );
    const [source] = dmarc.unaligned_sources;
    const row = readiness.getByRole("row").filter({ hasText: source.ip });
    expect(await row.innerText()).toContain(source.advice.text);
    const term = row.getByRole("button", { name: "Copy term" });
    expect(await readCopied(page, () => term.click())).toBe(source.advice.spf_term);
    await checkScreen(opened, "domain-progress-unaligned");
  });
});

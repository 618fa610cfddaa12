import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, type OpenedPage } from "./browser.ts";

// What a newcomer is told before credits are spent. The lab plays each network.

const whenMeasured = async ({ page }: OpenedPage): Promise<void> => {
  const { origin } = new URL(page.url());
  for (;;) {
    const { reach } = (await (await fetch(`${origin}/health`)).json()) as any;
    if (reach.state !== "not_measured") break;
    await setTimeout(50);
  }
  await page.reload();
};

describeInBrowser(
  "the dashboard on a machine without internet",
  ({ open }) => {
    test("the screen states that the internet is missing and offers the lab's addresses by one click", async () => {
      const opened = await open({ path: "verify", key: "live" });
      await whenMeasured(opened);
      const { page } = opened;

      await page.getByText("reaches neither name servers nor mail servers").waitFor();
      await checkScreen(opened, "verify-without-internet");
      await page.getByRole("button", { name: "ada.lovelace@valid" }).click();

      const verdict = page.locator(".verdict");
      await verdict.waitFor();
      expect(await verdict.textContent()).toContain("Send");
      expect(await verdict.textContent()).not.toContain("Simulated");
    });
  },
  { REACH_DOMAINS: "nxdomain.lab.mailproof.test" },
);

describeInBrowser(
  "the dashboard on a machine without port 25",
  ({ open }) => {
    test("the screen states the closed port before an address is sent, and its result refers to the operator", async () => {
      const opened = await open({ path: "verify", key: "live" });
      await whenMeasured(opened);
      const { page } = opened;
      const sentence = page.getByText("port 25 is closed. Results that need one stay unknown");
      await sentence.waitFor();
      await page.getByRole("link", { name: "New list" }).click();
      await page.getByRole("heading", { name: "New list" }).waitFor();
      await sentence.waitFor();
      await page.goBack();
      await page.route("**/v1/verify", async (route) => {
        const response = await route.fetch();
        const { data, ...envelope } = (await response.json()) as any;
        const result = { ...data, status: "unknown", reason: "no_smtp_egress", credits_used: 0 };
        await route.fulfill({ response, json: { ...envelope, data: result } });
      });

      await page
        .getByRole("textbox", { name: "Address" })
        .fill("ada.lovelace@valid.lab.mailproof.test");
      await page.keyboard.press("Enter");

      const verdict = page.locator(".verdict");
      await verdict.waitFor();
      const text = await verdict.textContent();
      expect(text).toContain("Ask the operator");
      expect(text).toContain("port 25 is closed. Nothing was charged.");
    });
  },
  { REACH_DOMAINS: "refused.lab.mailproof.test" },
);

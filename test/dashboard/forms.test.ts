import type { GetUsageData } from "@mailproof/client";
import { createClient } from "@mailproof/client";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser } from "./browser.ts";

describeInBrowser("the screen Sign-up forms", ({ open }) => {
  test("the forms screen links to the API keys while no form has visitors", async () => {
    const opened = await open({ path: "forms" });

    const link = opened.page.getByRole("link", { name: "Create a public key" });
    expect(await link.getAttribute("href")).toMatch(/settings\/api-keys$/);
    await checkScreen(opened, "forms-empty");
  });

  test("the table shows the API's numbers of each page, and the typos that the form caught", async () => {
    const opened = await open({ key: "live", path: "forms" });
    const { page, ready, readApi } = opened;
    const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });
    const origin = "https://shop.example";
    const form = await client.createApiKey({
      name: "Sign-up",
      mode: "live",
      public: { origins: [origin], daily_limit: 100 },
    });
    const ask = (email: string) =>
      fetch(`${ready.base_url}/v1/verify/form`, {
        method: "POST",
        headers: { "x-api-key": form.key, "content-type": "application/json", origin },
        body: JSON.stringify({ email }),
      });
    for (const email of ["ada@valid.lab.mailproof.test", "ada@gmial.com", "ada"]) await ask(email);
    await client.verifyForm({ email: "grace@valid.lab.mailproof.test" });
    const { totals } = await readApi<GetUsageData>("/v1/account/usage");
    expect(totals.forms.length).toBe(2);

    await page.reload();
    const row = page.getByRole("row").filter({ hasText: origin });
    await row.waitFor();

    expect(await row.getByRole("cell").allInnerTexts()).toEqual(["Sign-up", "1", "1", "1", "1"]);
    expect(await page.getByRole("row").filter({ hasText: "your back end" }).count()).toBe(1);
    await checkScreen(opened, "forms");
  });
});

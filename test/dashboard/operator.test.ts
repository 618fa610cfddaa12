import { join } from "node:path";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { whenRun } from "../servers/running.ts";
import { checkScreen, describeInBrowser, type OpenedPage, waitUntilLoaded } from "./browser.ts";
import { checkStackedTable, OPERATOR_KEY } from "./server.ts";

const runOnServer = async ({ ready }: OpenedPage, command: string, options = {}) => {
  const response = await fetch(`${ready.base_url}/v1/operator/${command}`, {
    method: "POST",
    headers: { "x-api-key": OPERATOR_KEY, "content-type": "application/json" },
    body: JSON.stringify(options),
  });
  // Any: each command has its own.
  return ((await response.json()) as any).data;
};

describeInBrowser(
  "the operator's screens",
  ({ open }) => {
    const openAs = (path: string) => open({ path, key: { secret: OPERATOR_KEY } });

    test("an operator signs in with the operator key and sees no account's screen", async () => {
      const { page, complaints } = await open({ key: null });
      await page.getByLabel("API key").fill(`${OPERATOR_KEY}x`);
      await page.keyboard.press("Enter");
      await page.getByText("does not accept this operator key").waitFor();

      await page.getByLabel("API key").fill(OPERATOR_KEY);
      await page.keyboard.press("Enter");

      await page.getByRole("heading", { name: "Server", level: 1 }).waitFor();
      const names = await page.locator(".side nav a").allTextContents();
      expect(names).toEqual(["Server", "Accounts"]);
      expect(await page.locator(".balance").count()).toBe(0);
      expect(complaints).toEqual([]);
    });

    test("an account's screen that is already loaded sends nothing with the operator's key", async () => {
      const { page, requests } = await open({ key: null });
      // The sign-in form is shown while the code of the overview is loaded behind it.
      await whenOverviewLoaded(page);
      const code = Promise.withResolvers<void>();
      await page.route("**/assets/server-*.js", async (route) => {
        await code.promise;
        await route.continue();
      });
      await page.getByLabel("API key").fill(OPERATOR_KEY);
      await page.keyboard.press("Enter");
      await page.getByText("Loading the screen …").waitFor();
      code.resolve();
      await page.getByRole("heading", { name: "Server", level: 1 }).waitFor();

      const asked = requests.filter((one) => one.includes("/v1/"));
      // The page has asked for a person's session when it opened.
      expect(asked.filter((one) => !/\/v1\/(?:operator\/|person$)/.test(one))).toEqual([]);
    });

    test("the checklist lists each missing part with its setting", async () => {
      const opened = await openAs("");
      const { page } = opened;
      const list = page.locator("section", {
        has: page.getByRole("heading", { name: "Before customers depend on it" }),
      });
      await list.getByRole("listitem").first().waitFor();

      const lights = await list.getByRole("listitem").allTextContents();
      const { lights: printed } = await runOnServer(opened, "checklist");

      expect(lights).toHaveLength(11);
      expect(printed).toHaveLength(11);
      expect(lights.find((text: string) => text.startsWith("Account"))).toContain("DEMO=off");
      expect(lights.find((text: string) => text.startsWith("Lists"))).toContain("on");
    });

    test("the shown gauges, audit and dead letters equal the commands' output", async () => {
      const opened = await openAs("");
      const { page } = opened;
      const gauges = page.locator("section", {
        has: page.getByRole("heading", { name: "Gauges" }),
      });
      await gauges.locator("dd").first().waitFor();

      const shown = await readFields(gauges);
      await page.getByRole("button", { name: "Run the audit" }).click();
      const audit = page.locator("section", { has: page.getByRole("heading", { name: "Audit" }) });
      await audit.locator("dd").first().waitFor();

      const { ok, ...figures } = await runOnServer(opened, "gauges");
      expect(Object.keys(shown)).toHaveLength(Object.keys(figures).length);
      expect(Object.keys(shown).filter((name) => name in figures)).toEqual([]);
      expect(shown["Messages that failed too often"]).toBe("0");
      expect(ok).toBe(true);
      expect(
        await gauges.getByText("Nothing is late, and nothing needs attention.").isVisible(),
      ).toBe(true);
      const { accounts, late } = await runOnServer(opened, "audit");
      expect(await readFields(audit)).toMatchObject({ accounts: String(accounts) });
      expect(late).toEqual([]);
      expect(await audit.getByText("Everything is in order.").isVisible()).toBe(true);
      await checkScreen(opened, "operator-server");
    });

    test("the screen lists dead letters without their addresses and queues them again", async () => {
      const opened = await openAs("");
      const { page, folder } = opened;
      const queue = createSqliteQueue(join(folder, "queue.sqlite"), () => new Date());
      onTestFinished(() => queue.close());
      await queue.sendMany("activity-dead", [{ body: { of: "joe@example.com" } }]);
      await page.reload();
      const panel = page.locator("section", {
        has: page.getByRole("heading", { name: "Dead letters" }),
      });
      const row = panel.getByRole("row").filter({ hasText: "activity-dead" });
      await row.waitFor();

      const { messages } = await runOnServer(opened, "dead-letters.list");
      expect(await panel.locator("tbody tr").count()).toBe(messages.length);
      expect(await panel.innerText()).not.toContain("joe@example.com");
      await panel.getByRole("button", { name: "Send activity back" }).dblclick();
      await row.waitFor({ state: "detached" });

      await panel.getByText("None.").waitFor();
      expect((await runOnServer(opened, "dead-letters.list")).messages).toEqual([]);
    });

    test("the screen tests the way to mail servers and shows the command's findings", async () => {
      const opened = await openAs("");
      const { page } = opened;
      await page.getByRole("button", { name: "Run the test" }).click();
      const panel = page.locator("section", {
        has: page.getByRole("heading", { name: "Connection to mail servers" }),
      });
      await panel.locator("dd").first().waitFor();

      const figures = await runOnServer(opened, "egress.test");
      const { ok: _, ...others } = figures;
      expect(Object.keys(await readFields(panel))).toEqual(
        expect.arrayContaining(Object.keys(others)),
      );
    });

    test("the screen writes a backup to the server's folder and shows the place", async () => {
      const { page } = await openAs("");
      await page.getByRole("button", { name: "Make a backup" }).click();
      const made = page.getByRole("status").filter({ hasText: "as_of" });
      const folder = await made.locator("dt:text-is('folder') + dd").textContent();

      const { code } = await whenRun({ MAILPROOF_DIR: folder ?? "" }, "admin", "audit");
      expect(code).toBe(0);
    });

    test("the screen shows accounts as the command prints them, in the operator's order", async () => {
      const opened = await openAs("accounts");
      const { page, ready } = opened;
      const busy = await runOnServer(opened, "accounts.create", { name: "Busy", credits: "9" });
      await runOnServer(opened, "accounts.create", { name: "Rich", credits: "2500000.5" });
      const verified = await fetch(`${ready.base_url}/v1/verify`, {
        method: "POST",
        headers: { "x-api-key": busy.live_key, "content-type": "application/json" },
        body: JSON.stringify({ email: "ada.lovelace@valid.lab.mailproof.test" }),
      });
      expect(verified.status).toBe(200);
      await page.reload();
      await waitUntilLoaded(opened);

      const rows = page.getByRole("table", { name: "Accounts" }).locator("tbody tr");
      const readRow = async (name: string) =>
        (await rows.filter({ hasText: name }).locator("td").allTextContents()).filter(
          (_, at) => at !== 2,
        );
      const readFirst = () => rows.first().getByRole("link").textContent();
      const printed: readonly any[] = await runOnServer(opened, "accounts.list");

      expect(await rows.count()).toBe(printed.length);
      expect(printed).toContainEqual(
        expect.objectContaining({ name: "Busy", available: 8, used_30_days: 1 }),
      );
      expect(await readRow("Busy")).toEqual([
        "free",
        "active",
        expect.not.stringContaining("never"),
        "1",
        "8",
      ]);
      expect(await readRow("Rich")).toEqual(["free", "active", "never", "0", "2,500,000.5"]);
      expect(await readFirst()).toBe("Busy");
      await page.getByLabel("Sort by").selectOption("Balance");
      expect(await readFirst()).toBe("Rich");
      await page.getByLabel("Sort by").selectOption("Use of 30 days");
      expect(await readFirst()).toBe("Busy");
      await checkScreen(opened, "operator-accounts", [375, 768, 1280, 1920]);
      await checkStackedTable(page, [
        "Plan",
        "Status",
        "Created",
        "Last call",
        "Used, 30 days",
        "Balance",
      ]);
    });

    test("the screen opens an account, grants it credits once and disables it", async () => {
      const opened = await openAs("accounts");
      const { page } = opened;
      await page.getByRole("link", { name: "Demo" }).waitFor();
      await page.getByLabel("Name").fill("Acme");
      await page.getByLabel("Credits").fill("100");
      await page.getByRole("button", { name: "Create the account" }).click();
      await page.getByText("live_key").waitFor();
      await checkScreen(opened, "operator-accounts");

      await page.getByRole("link", { name: "Acme" }).click();
      await page.getByRole("heading", { name: "Acme", level: 1 }).waitFor();
      await page.getByLabel("Credits to add").fill("12.5");
      await page.getByRole("button", { name: "Grant" }).click();
      await confirm(page, "Grant").dblclick();
      await page.getByText("112.5", { exact: false }).first().waitFor();
      const account = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      expect(await runOnServer(opened, "accounts.show", { account })).toMatchObject({
        credits: { available: 112.5 },
      });
      await checkScreen(opened, "operator-account");

      await page.getByRole("button", { name: "Disable the account" }).click();
      await confirm(page, "Disable the account").click();
      await page.getByRole("button", { name: "Enable the account" }).waitFor();
      expect((await runOnServer(opened, "accounts.show", { account })).status).toBe("disabled");
    });

    test("the screen sends a grant whose response was lost again and moves the credits once", async () => {
      const opened = await openAs("accounts");
      const { page, ready } = opened;
      const { account_id: account } = await runOnServer(opened, "accounts.create", {
        name: "Slow",
      });
      await page.goto(`${ready.base_url}/app/accounts/${account}`);
      await page.route("**/v1/operator/credits.grant", async (route) => {
        await route.fetch();
        await route.abort();
      });
      const grant = async () => {
        await page.getByRole("button", { name: "Grant" }).click();
        await confirm(page, "Grant").click();
      };
      const readAvailable = async () =>
        (await runOnServer(opened, "accounts.show", { account })).credits.available;
      await page.getByLabel("Credits to add").fill("12.5");
      await grant();
      await page.getByText("The server cannot be reached.").waitFor();
      expect(await readAvailable()).toBe(12.5);

      await page.unroute("**/v1/operator/credits.grant");
      await grant();
      await page.getByRole("status").getByText("available").waitFor();
      expect(await readAvailable()).toBe(12.5);

      // The next grant is another one, also of the same amount.
      await grant();
      await expect.poll(readAvailable).toBe(25);
    });

    test("a revoked key disappears from the list and is refused by the API", async () => {
      const opened = await openAs("accounts");
      const { page, ready } = opened;
      const { live_key: key, account_id: account } = await runOnServer(opened, "accounts.create", {
        name: "Leaky",
      });
      await page.goto(`${ready.base_url}/app/accounts/${account}`);
      const buttons = page.getByRole("row").getByRole("button", { name: /^Revoke/ });
      await buttons.first().waitFor();
      const count = await buttons.count();

      for (let left = count; left > 0; left--) {
        await buttons.first().click();
        await confirm(page, /^Revoke/).click();
        await expect.poll(() => buttons.count(), { timeout: 30_000 }).toBe(left - 1);
      }

      const response = await fetch(`${ready.base_url}/v1/account`, {
        headers: { "x-api-key": key },
      });
      expect(response.status).toBe(401);
    });

    test("a customer's key opens no operator's screen", async () => {
      const { page } = await open({ path: "accounts", key: "live" });

      await page.getByRole("heading", { name: "No such screen" }).waitFor();

      expect(await page.getByRole("link", { name: "Server" }).count()).toBe(0);
    });
  },
  { OPERATOR_KEY },
);

const whenOverviewLoaded = async (page: Page): Promise<void> => {
  const code = await page.waitForFunction(
    `performance.getEntriesByType("resource").find(({ name }) => /\\/overview-[^/]+\\.js$/.test(name))?.name`,
  );
  // The same module again: it has been run then.
  await page.evaluate(`import(${JSON.stringify(await code.jsonValue())}).then(() => null)`);
};

/** The button of the question that is open. */
const confirm = (page: Page, name: string | RegExp) =>
  page.getByRole("dialog").getByRole("button", { name });

/** Names and values of a command's output. */
const readFields = async (panel: Locator) => {
  const [names, values] = [
    await panel.locator("dt").allTextContents(),
    await panel.locator("dd").allTextContents(),
  ];
  return Object.fromEntries(names.map((name, at) => [name, values[at]]));
};

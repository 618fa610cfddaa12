import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import { SCRIPT_INTEGRITY, SCRIPT_PATH } from "@mailproof/guard/built";
import { expect, test } from "vitest";
import { beforeAnswer, checkScreen, describeInBrowser, readCopied } from "./browser.ts";
import { checkStackedTable } from "./server.ts";

const PATH = "settings/api-keys";

type Keys = { readonly api_keys: readonly Readonly<Record<string, unknown>>[] };

describeInBrowser("the screen of API keys", ({ open }) => {
  test("the table of keys shows each name, mode, scopes, creation and last use", async () => {
    const opened = await open({ path: PATH, key: "live" });
    const { page, readApi } = opened;
    const rows = page.locator(".keys tbody tr");
    await rows.first().waitFor();

    const { api_keys: keys } = await readApi<Keys>("/v1/api-keys");
    expect(await rows.count()).toBe(keys.length);
    const texts = await rows.allInnerTexts();
    for (const [at, key] of keys.entries()) {
      expect(texts[at]).toContain(String(key["name"]));
      expect(texts[at]).toContain(String(key["mode"]));
      expect(texts[at]).toContain(String(key["hint"]));
      expect(texts[at]).toContain("unrestricted");
    }
    expect(texts.filter((text) => text.includes("this session"))).toHaveLength(1);
    await checkScreen(opened, "api-keys");
    await checkStackedTable(page, ["Name", "Mode", "Scopes", "Created", "Last used", "Action"]);
  });

  test("a new key shows its creation and no last use until its first request", async () => {
    const { page, ready, readApi } = await open({ path: PATH, key: "live" });
    const secret = await createKey(ready, { name: "fresh", mode: "test" });
    await page.reload();
    const row = page.locator(".keys tr", { hasText: "fresh" });
    await row.waitFor();
    expect(await row.innerText()).toContain("never");

    await askAccount(ready, secret);
    await page.reload();
    await row.waitFor();
    const { api_keys: keys } = await readApi<Keys>("/v1/api-keys");
    const key = keys.find(({ name }) => name === "fresh");
    const cells = await row.getByRole("cell").allInnerTexts();
    expect(cells.slice(2, 4)).toEqual(
      await page.evaluate(
        `${JSON.stringify([key?.["created_at"], key?.["last_used_at"]])}.map((iso) =>
          new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" })
            .format(new Date(iso)))`,
      ),
    );
  });

  test("repeated Enter creates one key by keyboard alone, and Esc returns the focus to the button", async () => {
    const { page, readApi } = await open({ path: PATH, key: "live" });
    const { api_keys: before } = await readApi<Keys>("/v1/api-keys");
    await page.locator(".keys tbody tr").first().waitFor();
    const create = page.getByRole("button", { name: "Create a key" });
    await create.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Create a key");

    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.type("typed");
    await dialog.getByLabel("Only the scopes you choose").focus();
    await page.keyboard.press("Space");
    const offered = await dialog.locator(".scopes code").allTextContents();
    expect(offered).toEqual(SCOPES);
    for (let tab = 0; tab <= SCOPES.indexOf("account:read"); tab++)
      await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await beforeAnswer(page, async () => {
      await page.keyboard.press("Enter");
      await page.keyboard.press("Enter");
    });
    await dialog.locator(".new-key code").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });

    expect(await page.evaluate("document.activeElement.textContent")).toBe("Create a key");
    await expect.poll(() => page.locator(".new-key").count()).toBe(0);
    const { api_keys: after } = await readApi<Keys>("/v1/api-keys");
    expect(after).toHaveLength(before.length + 1);
    expect(after.find(({ name }) => name === "typed")?.["scopes"]).toEqual(["account:read"]);
  });

  test("a dialog that the user opens again at once stays open", async () => {
    const { page } = await open({ path: PATH, key: "live" });
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByRole("dialog").waitFor();

    const isOpen = await page.evaluate(`(async () => {
      const press = (text) => [...document.querySelectorAll("button")].find((one) => one.textContent === text).click();
      const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      press("Cancel");
      // The page is drawn by then, and the event has not come.
      for (let turn = 0; turn < 20; turn++) await undefined;
      press("Create a key");
      await drawn();
      await drawn();
      return document.querySelector("dialog[aria-label='Create a key']").open;
    })()`);

    expect(isOpen).toBe(true);
  });

  test("a new public key shows the snippet for its pages, and the table shows its origins", async () => {
    const opened = await open({ path: PATH, key: "live" });
    const { page } = opened;
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("sign-up");
    await dialog.getByLabel("Public:").check();
    await dialog.getByLabel("Pages").fill("https://www.example.com\nhttps://signup.example.com");
    await dialog.getByLabel("Verifications a day").fill("1234");
    await checkScreen(opened, "api-keys-public");
    await dialog.getByRole("button", { name: "Create the key" }).click();

    const copy = dialog.getByRole("button", { name: "Copy the snippet" });
    await copy.waitFor();
    const snippet = await readCopied(page, () => copy.click());
    expect(snippet).toContain(`${SCRIPT_PATH}"`);
    expect(snippet).toContain(`integrity="${SCRIPT_INTEGRITY}"`);
    expect(snippet).toMatch(/data-key="mp_pub_[0-9A-Za-z]{28}"/);
    const policy = `connect-src 'self' ${opened.ready.base_url}`;
    expect(await dialog.innerText()).toContain(policy);
    await checkScreen(opened, "api-keys-snippet");
    await dialog.getByRole("button", { name: "Done" }).click();
    const row = page.locator(".keys tr", { hasText: "sign-up" });
    await row.waitFor();
    const text = await row.innerText();
    expect(text).toContain("public, for forms");
    expect(text).toContain(
      "Only in pages of https://www.example.com, https://signup.example.com, 1,234 a day",
    );
  });

  test("the screen shows a new key once, the key works with its scopes, and the browser stores it nowhere", async () => {
    const { page, ready } = await open({ path: PATH, key: "live" });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("shop");
    await dialog.getByLabel("Test:").check();
    await dialog.getByLabel("Only the scopes you choose").check();
    await dialog.getByLabel("account:read").check();
    await dialog.getByLabel("Expires").selectOption("30");
    await dialog.getByRole("button", { name: "Create the key" }).click();

    const shown = dialog.locator(".new-key code");
    await shown.waitFor();
    const secret = await shown.innerText();
    expect(secret).toMatch(/^mp_test_/);
    const copy = dialog.getByRole("button", { name: "Copy" });
    expect(await readCopied(page, () => copy.click())).toBe(secret);
    const answer = await fetch(`${ready.base_url}/v1/account`, {
      headers: { "x-api-key": secret },
    });
    expect(await answer.json()).toMatchObject({
      data: { key: { mode: "test", scopes: ["account:read"] } },
    });

    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "hidden" });
    const row = page.locator(".keys tr", { hasText: "shop" });
    await row.waitFor();
    expect(await row.innerText()).toContain("Expires");
    expect(await page.content()).not.toContain(secret);
    expect(
      await page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })"),
    ).not.toContain(secret);
    expect(page.url()).not.toContain(secret);
  });

  test.each([
    ["Verify only", ["verification:read", "verification:write", "account:read"]],
    ["Read only", SCOPES.filter((scope) => scope.endsWith(":read"))],
    ["Unrestricted", null],
  ])("one choice creates a key with the scopes of %s", async (label, scopes) => {
    const { page, readApi } = await open({ path: PATH, key: "live" });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill(label);
    if (label !== "Verify only") await dialog.getByLabel(label).check();
    await dialog.getByRole("button", { name: "Create the key" }).click();
    await dialog.locator(".new-key code").waitFor();

    const { api_keys: keys } = await readApi<Keys>("/v1/api-keys");
    expect(keys.find(({ name }) => name === label)?.["scopes"]).toEqual(scopes);
  });

  test("a form without a chosen scope shows the API's message and creates no key", async () => {
    const { page, readApi } = await open({ path: PATH, key: "live" });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("nothing");
    await dialog.getByLabel("Only the scopes you choose").check();
    await dialog.getByRole("button", { name: "Create the key" }).click();

    const alert = dialog.getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain("must name at least one scope");
    const { api_keys: keys } = await readApi<Keys>("/v1/api-keys");
    expect(keys.map(({ name }) => name)).not.toContain("nothing");
  });

  test("the API refuses a revoked key, and its row disappears", async () => {
    const { page, ready } = await open({ path: PATH, key: "live" });
    const created = await createKey(ready, { name: "leaked", mode: "live" });
    await page.reload();
    await page.getByRole("button", { name: "Revoke leaked" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    // Esc changed nothing, and the focus is back.
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Revoke");
    expect((await askAccount(ready, created)).status).toBe(200);

    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Revoke the key" }).click();
    await page.locator(".keys tr", { hasText: "leaked" }).waitFor({ state: "detached" });
    expect((await askAccount(ready, created)).status).toBe(401);
  });

  test("revoking the own key signs the user out, and Back shows no data", async () => {
    const first = await open({ path: PATH, key: "live" });
    const secret = await createKey(first.ready, { name: "mine", mode: "live" });
    const { page } = await open({ path: PATH, key: { secret } });
    await page.getByRole("button", { name: "Revoke mine" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke the key" }).click();

    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.getByRole("status").innerText()).toContain("You revoked the key");
    expect(await page.evaluate("sessionStorage.getItem('mailproof.key')")).toBeNull();
    await page.goBack();
    expect(await page.locator(".keys").count()).toBe(0);
  });

  test("an action beyond the key's scopes states the missing scope without a Retry", async () => {
    const { ready } = await open({ path: PATH, key: "live" });
    const secret = await createKey(ready, {
      name: "narrow",
      mode: "live",
      scopes: ["verification:write"],
    });

    const { page } = await open({ path: "logs", key: { secret } });
    const alert = page.locator("main").getByRole("alert");
    await alert.waitFor();
    expect(await alert.innerText()).toContain("account:read");

    const keys = await open({ path: PATH, key: { secret } });
    const refused = keys.page.locator("main").getByRole("alert");
    await refused.waitFor();
    expect(await refused.innerText()).toContain("unrestricted keys");

    const verify = await open({ path: "verify", key: { secret: await createReader(ready) } });
    await verify.page.getByLabel("Address").fill("ada@valid.lab.mailproof.test");
    await verify.page.keyboard.press("Enter");
    const paid = verify.page.locator("main").getByRole("alert");
    await paid.waitFor();
    expect(await paid.innerText()).toContain("verification:write");
    expect(await paid.innerText()).not.toContain("Idempotency-Key");
    expect(await paid.getByRole("button").count()).toBe(0);
  });

  test.each([
    ["Python", "/v1/verify"],
    ["MCP", "/mcp"],
  ])("the snippet for %s contains this host and no key", async (name, path) => {
    const { page, ready } = await open({ path: PATH, key: "live" });
    await page.getByLabel(name, { exact: true }).check();
    const copy = page.getByRole("button", { name: `Copy ${name}` });
    const copied = await readCopied(page, () => copy.click());

    expect(copied).toContain(ready.base_url + path);
    expect(copied).not.toContain(ready.live_key);
  });

  test.each([
    ["curl", "sh", "-c"],
    ["Node", process.execPath, "--input-type=module", "--eval"],
  ])("the copied snippet for %s verifies an address", async (name, program, ...options) => {
    const { page, ready } = await open({ path: PATH, key: "live" });
    await page.getByLabel(name, { exact: true }).check();
    const copy = page.getByRole("button", { name: `Copy ${name}` });
    const copied = await readCopied(page, () => copy.click());

    const { stdout } = await promisify(execFile)(program, [...options, copied], {
      env: { PATH: process.env["PATH"] ?? "", MAILPROOF_KEY: ready.test_key, NO_COLOR: "1" },
    });

    expect(stdout).toContain("valid@example.com");
    expect(stdout).toContain("accepted");
  });
});

type Ready = { readonly base_url: string; readonly live_key: string };

const createKey = async (ready: Ready, body: object): Promise<string> => {
  const answer = await fetch(`${ready.base_url}/v1/api-keys`, {
    method: "POST",
    headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data } = (await answer.json()) as { data: { key: string } };
  return data.key;
};

const createReader = (ready: Ready) =>
  createKey(ready, { name: "reader", mode: "live", scopes: ["account:read"] });

const askAccount = (ready: Ready, key: string) =>
  fetch(`${ready.base_url}/v1/account`, { headers: { "x-api-key": key } });

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { checkScreen, describeInBrowser, type OpenedPage, readCopied } from "./browser.ts";

/** The table of docs/test-keys.md, by address: the result that the screen shows, at once or after its job. */
const readDocumented = () => {
  const [, page = ""] = readFileSync("docs/test-keys.md", "utf8").split("## Results by address");
  const [results = ""] = page.split("## Results of a search");
  const rows = [...results.matchAll(/^\| `([^`]+)` +\| (\d+) +\| (\S+) +\| (?:`([^`]+)`|-) +\|/gm)];
  return rows.map(([, email = "", code = "", status = "", reason = ""]) => ({
    email,
    code,
    status,
    reason,
  }));
};

/** Those that go on as a job, with the result of the page's later tables. */
const LATER: Readonly<Record<string, readonly [status: string, reason: string]>> = {
  "unknown@example.com": ["unknown", "timeout"],
  "greylisted@example.com": ["valid", "accepted"],
  "throttled@example.com": ["valid", "accepted"],
  "ann@dnsfail.com": ["unknown", "dns_inconclusive"],
};

/** Its job takes half a minute; another test follows a pending address to its job. */
const SLOW = "slow@example.com";

const ADVICE: Readonly<Record<string, string>> = {
  valid: "Send",
  invalid: "Do not send",
  disposable: "Do not send",
  spam_trap: "Do not send",
  risky: "Send with care",
  catch_all: "Send with care",
  role: "Send with care",
  unknown: "Wait",
};

const submit = async ({ page }: OpenedPage, email: string) => {
  await page.getByRole("textbox", { name: "Address" }).fill(email);
  await page.keyboard.press("Enter");
};

const readVerdict = async ({ page }: OpenedPage, email: string) => {
  const verdict = page
    .locator(".verdict")
    .filter({ has: page.getByRole("heading", { name: email }) });
  // The slowest of the documented addresses takes half a minute, after ten seconds in which the screen waits for it.
  await verdict.waitFor({ timeout: 100_000 });
  return {
    status: await verdict.locator(".status").textContent(),
    advice: await verdict.locator(".answer-line b").textContent(),
    reason: await verdict.locator("code").first().textContent(),
  };
};

const LIVE_ADDRESS = "ada.lovelace@valid.lab.mailproof.test";

describeInBrowser("the screen Verify", ({ open }) => {
  test("every test address but the slow one shows its status, reason and advice", async () => {
    const opened = await open({ path: "verify" });
    const documented = readDocumented().filter(
      ({ code, email }) => code === "200" && email !== SLOW,
    );
    expect(documented.length).toBeGreaterThan(0);

    for (const { email, ...first } of documented) {
      const [status = first.status, reason = first.reason] = LATER[email] ?? [];
      await submit(opened, email);
      expect({ email, ...(await readVerdict(opened, email)) }).toEqual({
        email,
        status,
        reason,
        advice: `Simulated: ${ADVICE[status]}`,
      });
    }
    expect(opened.complaints).toEqual([]);
  });

  test.each([
    ["hello world", "no, not checked, not checked, not checked, not checked, not checked", "no"],
    ["blocked@example.com", "yes, yes, yes, no, not known, not known", ""],
    ["catch_all@example.com", "yes, yes, yes, yes, not known, yes", "yes"],
    ["invalid@example.com", "yes, yes, yes, yes, no, no", "no"],
  ])(
    "the screen shows a skipped or inconclusive check not as a red no: %s",
    async (email, all, red) => {
      const opened = await open({ path: "verify" });
      await submit(opened, email);
      await readVerdict(opened, email);

      const checks = opened.page.locator(".checks dd");
      expect((await checks.allTextContents()).join(", ")).toBe(all);
      const isRed = opened.page.locator(".checks dd.bad");
      expect((await isRed.allTextContents()).join(", ")).toBe(red);
    },
  );

  test("a failure of ours shows the API's message with the request's id, and Retry sends it again", async () => {
    const opened = await open({ path: "verify" });
    await submit(opened, "error@example.com");

    const alert = opened.page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Request id\s*req_/);
    expect(await alert.getByRole("button", { name: "Retry" }).isVisible()).toBe(true);
  });

  test("the parts add up to the score of a verdict, and the evidence shows DNS, transcript, rule and lists", async () => {
    const opened = await open({ path: "verify", key: "live" });
    const { page } = opened;
    await submit(opened, LIVE_ADDRESS);
    await readVerdict(opened, LIVE_ADDRESS);

    const points = await page.locator(".waterfall tbody td.number").allTextContents();
    const sum = points.reduce(
      (total, text) => total + Number(text.replace("−", "-").replaceAll(/[ +]/g, "")),
      0,
    );
    expect(points.length).toBeGreaterThan(1);
    expect(String(sum)).toBe(await page.locator(".waterfall tfoot td.number").textContent());
    expect(String(sum)).toBe(await page.locator(".score b").textContent());
    const evidence = await page.locator(".evidence").textContent();
    for (const text of ["MX", "RCPT TO:", "250", "Rule that matched the reply", "disposable"])
      expect(evidence).toContain(text);
    // Each line of the transcript has its time since the connection.
    const times = (await page.locator(".evidence td.number").allTextContents()).map(Number);
    expect(times.length).toBeGreaterThan(5);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    await checkScreen(opened, "verify");
  });

  test("a double click, a reload and Back charge a verification once", async () => {
    const opened = await open({ path: "verify", key: "live" });
    const { page, readApi } = opened;
    const email = "grace.hopper@valid.lab.mailproof.test";
    const readSpent = async () =>
      (await readApi<{ credits: { spent: number } }>("/v1/account")).credits.spent;
    const before = await readSpent();

    await page.getByRole("textbox", { name: "Address" }).fill(email);
    await page.getByRole("button", { name: "Verify", exact: true }).dblclick();
    await readVerdict(opened, email);
    await page.getByRole("button", { name: "Verify", exact: true }).dblclick();
    await readVerdict(opened, email);
    await page.reload();
    await readVerdict(opened, email);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.goBack();
    await readVerdict(opened, email);

    expect((await readSpent()) - before).toBe(1);
  });

  test("a reload during a verification charges once", async () => {
    const opened = await open({ path: "verify", key: "live" });
    const { page, readApi } = opened;
    const email = "katherine.johnson@valid.lab.mailproof.test";
    const readSpent = async () =>
      (await readApi<{ credits: { spent: number } }>("/v1/account")).credits.spent;
    const before = await readSpent();
    const charged = Promise.withResolvers<void>();
    await page.route("**/v1/verify", async (route) => {
      await route.fetch();
      charged.resolve();
    });
    await submit(opened, email);
    await page.getByText("Asking the mail server of valid.lab.mailproof.test …").waitFor();
    await charged.promise;
    await page.unroute("**/v1/verify");

    await page.reload();
    await readVerdict(opened, email);

    expect((await readSpent()) - before).toBe(1);
  });

  test("a pending verification shows its next attempt and links to its job", async () => {
    const opened = await open({ path: "verify", key: "live" });
    await submit(opened, "ada.verify@greylist.lab.mailproof.test");
    const status = opened.page.getByRole("status").filter({ hasText: "pending" });

    await status.filter({ hasText: /The next attempt is at \d\d:\d\d/ }).waitFor();
    await opened.page.locator("#pending ~ p a").click();

    await opened.page.getByRole("heading", { name: /^One address of/, level: 1 }).waitFor();
    await opened.page.getByText(/^1 address is being verified\./).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("Ctrl K verifies another address on the screen of a verdict", async () => {
    const opened = await open({ path: "verify", key: "live" });
    const { page, requests } = opened;
    const [first, second] = ["ada.lovelace", "alan.turing"].map(
      (name) => `${name}@valid.lab.mailproof.test`,
    );
    await submit(opened, first ?? "");
    await readVerdict(opened, first ?? "");

    await page.keyboard.press("Control+k");
    await page.keyboard.type(second ?? "");
    await page.getByRole("option", { name: "1 credit" }).waitFor();
    await page.keyboard.press("Enter");

    expect(await readVerdict(opened, second ?? "")).toMatchObject({ status: "valid" });
    expect(requests.filter((one) => one === "POST /v1/verify")).toHaveLength(2);
  });

  test("another account that signs in later in the tab repeats no request of the earlier account", async () => {
    const opened = await open({ path: "verify", key: null });
    const { page, ready, requests } = opened;
    await page.getByLabel("API key").fill(ready.test_key);
    await page.keyboard.press("Enter");
    await submit(opened, "valid@example.com");
    await readVerdict(opened, "valid@example.com");
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    const sent = () => requests.filter((one) => one === "POST /v1/verify").length;
    expect(sent()).toBe(1);

    await page.getByLabel("API key").fill(ready.live_key);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Address" }).waitFor();

    expect(await page.getByRole("textbox", { name: "Address" }).inputValue()).toBe("");
    expect(sent()).toBe(1);
  });

  test("a mistyped address shows its suggestion, and one press verifies that", async () => {
    const opened = await open({ path: "verify" });
    await submit(opened, "ann@gmial.com");
    await opened.page.getByText("Did you mean").waitFor();

    await opened.page.getByRole("button", { name: "Verify it" }).click();

    expect(await readVerdict(opened, "ann@gmail.com")).toMatchObject({ status: "valid" });
  });

  test("the copied curl command sends the same request and contains no key", async () => {
    const opened = await open({ path: "verify" });
    const { page, ready } = opened;
    const email = "o'brien+full@example.com";
    await submit(opened, email);
    const shown = await readVerdict(opened, email);

    const copy = page.getByRole("button", { name: "Copy as curl" });
    const [copied] = await Promise.all([
      readCopied(page, () => copy.click()),
      page.getByText("Copied").waitFor(),
    ]);
    const { stdout } = await promisify(execFile)("sh", ["-c", copied], {
      env: { PATH: process.env["PATH"] ?? "", MAILPROOF_KEY: ready.test_key },
    });

    expect(copied).not.toContain("mp_");
    const { data } = JSON.parse(stdout) as {
      data: { email: string; status: string; reason: string };
    };
    expect(data).toMatchObject({ email, status: shown.status, reason: shown.reason });
  });
});

import { startDnsServer } from "@mailproof/lab/dns-server";
import type { DnsFailure, Records } from "@mailproof/lab/zone";
import { afterAll, expect, test } from "vitest";
import { dial } from "../servers/smtp-client.ts";
import {
  beforeAnswer,
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  readCopied,
  takePicture,
} from "./browser.ts";
import { callApi } from "./jobs.ts";

const TESTS = "/v1/deliverability/tests";

const whenCreated = async ({ page }: OpenedPage, cost: string): Promise<string> => {
  await page
    .getByRole("button", { name: `New mail test, ${cost}` })
    .first()
    .click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Create, ${cost}` })
    .click();
  await page.waitForURL(/mail-tests\/mlt_/);
  return new URL(page.url()).pathname.split("/").at(-1) ?? "";
};

const readRegion = async ({ page }: OpenedPage, name: string): Promise<string> => {
  const text = await page.getByRole("region", { name, exact: true }).innerText();
  return text.replaceAll(/\s+/g, " ");
};

describeInBrowser("mail tests without a receiver", ({ open }) => {
  test("a test key's mail test shows its address, and its report appears without a reload", async () => {
    const opened = await open({ path: "mail-tests" });
    const { page, requests, readApi } = opened;
    await page.getByText("You have no mail tests yet.").waitFor();
    await checkScreen(opened, "mail-tests-none", [375]);
    // What the API returns while no mail has arrived, until this test lets its mail in.
    let isWaiting = true;
    await page.route(`**${TESTS}/*`, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const { report: _, ...data } = body.data;
      await route.fulfill({
        response,
        json: isWaiting ? { ...body, data: { ...data, status: "waiting" } } : body,
      });
    });

    const id = await whenCreated(opened, "free");
    await page.getByText("No mail has arrived yet.").waitFor();
    const { address } = await readApi<any>(`${TESTS}/${id}`);
    const copy = page.getByRole("button", { name: "Copy address" });
    expect(await readCopied(page, () => copy.click())).toBe(address);
    await page.getByText(/^(59|60) minutes left$/).waitFor();
    await checkScreen(opened, "mail-test-waiting");
    const pages = requests.filter((one) => one.startsWith("GET /app/mail-tests")).length;
    isWaiting = false;

    await page.getByText(/^The mail arrived .*: grade C, 73 of 100\.$/).waitFor();
    expect(requests.filter((one) => one.startsWith("GET /app/mail-tests"))).toHaveLength(pages);
    const { report } = await readApi<any>(`${TESTS}/${id}`);
    expect(await page.getByRole("img", { name: /^Grade/ }).getAttribute("aria-label")).toBe(
      `Grade ${report.grade}, ${report.score} of 100`,
    );
    await checkScreen(opened, "mail-test-report");
  });

  test("the report of a mail test shows each result of the API, findings by points, and a record to copy", async () => {
    const opened = await open({ path: "mail-tests" });
    const { page, readApi } = opened;
    const id = await whenCreated(opened, "free");
    await page.getByRole("img", { name: /^Grade/ }).waitFor();
    const { report } = await readApi<any>(`${TESTS}/${id}`);

    const fixes = page.getByRole("region", { name: "What to fix first" });
    expect(await fixes.locator("ol.fixes > li").count()).toBe(report.findings.length);
    for (const finding of report.findings) {
      expect(await fixes.innerText()).toContain(finding.message);
      expect(await fixes.innerText()).toContain(finding.advice);
    }
    expect(await fixes.locator("ol .points").allInnerTexts()).toEqual(
      report.findings.map(({ points_regained: points }: any) => `+${points} points`),
    );
    const [{ record }] = report.findings;
    const value = fixes.getByRole("button", { name: "Copy value" }).first();
    expect(await readCopied(page, () => value.click())).toBe(record.value);

    expect(await readRegion(opened, "SPF")).toMatch(/^SPF passes 100/);
    expect(await readRegion(opened, "DKIM")).toMatch(/^DKIM no signature 0/);
    expect(await readRegion(opened, "DMARC")).toContain(report.dmarc.record);
    expect(await readRegion(opened, "ARC")).toMatch(/^ARC none/);
    const server = await readRegion(opened, "Sending server");
    for (const text of ["192.0.2.1", "out.example.com resolves back", "resolves", "TLSv1.3"])
      expect(server).toContain(text);

    // By receiver, as the API has them.
    const requirements = page.getByRole("table", { name: "Requirements by receiver" });
    for (const one of report.requirements) {
      const cells = requirements.getByRole("row").filter({ hasText: one.text }).getByRole("cell");
      const word = { met: "met", unmet: "not met", unknown: "not measured" }[one.status as string];
      expect(await cells.allInnerTexts()).toEqual(
        ["gmail", "yahoo", "microsoft"].map((receiver) =>
          one.receivers.includes(receiver) ? word : "not required",
        ),
      );
    }
    // The points of the parts add up to the score.
    const counting = page.getByRole("region", { name: "How the score is calculated" });
    const points = await counting.locator("tbody td:last-child").allInnerTexts();
    expect(points.reduce((sum, text) => sum + Number(text), 0)).toBe(report.score);
    await page.reload();
    await page.getByRole("img", { name: /^Grade/ }).waitFor();
  });

  test("the report of a mail test never shows an unmeasured part in red and omits it from the score", async () => {
    const opened = await open({ path: "mail-tests" });
    const { page } = opened;
    await page.route(`**${TESTS}/mlt_*`, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const { report } = body.data;
      if (!report) return route.fulfill({ response, json: body });
      const { spf: _, ...others } = report;
      const json = {
        ...body,
        data: {
          ...body.data,
          report: {
            ...others,
            missing_parts: ["spf", "dkim", "dmarc", "server", "reputation"],
            score_parts: {
              ...report.score_parts,
              components: report.score_parts.components.filter(({ component }: any) =>
                ["header", "content"].includes(component),
              ),
            },
            dkim: [
              {
                result: "temperror",
                reason: "dns_timeout",
                domain: "example.com",
                selector: "s1",
                signed_fields: ["from"],
                unsigned_bytes: 0,
                testing: false,
              },
            ],
            arc: { result: "temperror", sets: [] },
            dmarc: {
              result: "temperror",
              disposition: "none",
              spf: { mode: "relaxed" },
              dkim: { mode: "relaxed" },
            },
            server: { helo_kind: "name" },
            reputation: { blacklists_checked: 0, blacklists_listed: 0, listed_on: [] },
            requirements: report.requirements.map((one: any) => ({ ...one, status: "unknown" })),
            findings: [],
          },
        },
      };
      return route.fulfill({ response, json });
    });
    await whenCreated(opened, "free");
    await page.getByText(/^Not measured, because DNS did not answer:/).waitFor();

    expect(await page.locator("main .bad").allInnerTexts()).toEqual([]);
    expect(await page.locator(".card .state.grey").count()).toBeGreaterThan(7);
    await page.getByText("left out of the score: SPF, DKIM, DMARC").waitFor();
    await checkScreen(opened, "mail-test-unmeasured", [1280, 375]);
  });

  test("the screen of a server without a mail domain shows the remedy, and a click charges nothing", async () => {
    const opened = await open({ path: "mail-tests", key: "live" });
    const { page, readApi } = opened;
    const { credits } = await readApi<any>("/v1/account");
    await page.getByRole("button", { name: "New mail test, 2 credits" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("refunded if no mail arrives within the hour").waitFor();
    await dialog.getByRole("button", { name: "Create, 2 credits" }).click();

    await dialog.getByRole("alert").waitFor();
    expect(await dialog.innerText()).toContain("its operator has not set MAIL_DOMAIN");
    expect(await dialog.innerText()).toContain("Nothing was charged.");
    expect(await dialog.innerText()).toContain("With a test key the mail is simulated");
    await checkScreen(opened, "mail-test-not-configured", [375]);
    expect((await readApi<any>("/v1/account")).credits).toEqual(credits);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.textContent")).toContain("New mail test");
  });

  test("the lists of mail tests, of all and of one domain, link to their reports", async () => {
    const opened = await open();
    const { page, ready } = opened;
    const { test_id: id } = await callApi(opened, `POST ${TESTS}`, {});
    await expect
      .poll(async () => (await callApi(opened, `GET ${TESTS}/${id}`)).status, { timeout: 60_000 })
      .toBe("received");
    await page.goto(`${ready.base_url}/app/mail-tests`);
    const rows = page.getByRole("table", { name: "Mail tests" }).getByRole("row");
    await rows.nth(1).waitFor();
    const { tests } = await callApi(opened, `GET ${TESTS}`);
    expect(await rows.count()).toBe(tests.length + 1);
    expect(await rows.nth(1).innerText()).toContain("report ready");
    await checkScreen(opened, "mail-tests");

    await page.goto(`${ready.base_url}/app/domains/example.com/mail-tests`);
    await rows.nth(1).waitFor();
    await checkScreen(opened, "domain-mail-tests");
    await rows.nth(1).getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Mail test: example.com", level: 1 }).waitFor();
    expect(page.url()).toContain(id);
    await page.goBack();
    await rows.nth(1).waitFor();
    const tabs = page.getByRole("navigation", { name: "About example.com" });
    expect(await tabs.locator("[aria-current]").innerText()).toBe("Mail tests");
  });

  test("the screen reports that another account's mail test is not found", async () => {
    const { page } = await open({ path: `mail-tests/mlt_${"0".repeat(32)}` });

    expect(await page.locator("main").getByRole("alert").innerText()).toContain(
      "No such mail test.",
    );
  });
});

type Names = Record<string, Records | DnsFailure>;

/** The mail of this test comes from this machine, so its address is the sender's. */
const ZONE: Names = {
  "shop.test": { MX: [[10, "mx.shop.test"]], TXT: [["v=spf1 ip4:203.0.113.0/24 -all"]] },
  "_dmarc.shop.test": { TXT: [["v=DMARC1; p=none; rua=mailto:d@shop.test"]] },
};

const server = await startDnsServer({ "": ZONE }, 0);
afterAll(() => server.close());

describeInBrowser(
  "mail tests with a receiver",
  ({ open }) => {
    test("a mail to the test's address shows why it fails, for one charge by keyboard alone", {
      timeout: 90_000,
    }, async () => {
      const opened = await open({ path: "mail-tests", key: "live" });
      const { page, ready, readApi } = opened;
      const before = (await readApi<any>("/v1/account")).credits.available;
      await page.getByRole("button", { name: "New mail test, 2 credits" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Create, 2 credits");
      await beforeAnswer(page, async () => {
        await page.keyboard.press("Enter");
        await page.keyboard.press("Enter");
      });
      await page.waitForURL(/mail-tests\/mlt_/);
      await page.getByText("No mail has arrived yet.").waitFor();
      const { tests } = await readApi<any>(TESTS);
      expect(tests).toHaveLength(1);
      expect((await readApi<any>("/v1/account")).credits.available).toBe(before - 2);

      const client = await dial("127.0.0.1", (ready as unknown as { mail_port: number }).mail_port);
      await client.reply();
      await client.say("EHLO localhost");
      await client.say("MAIL FROM:<news@shop.test>");
      await client.say(`RCPT TO:<${await page.locator(".test-address code").innerText()}>`);
      await client.say("DATA");
      client.send(
        [
          "From: The Shop <news@shop.test>",
          "Subject: An offer",
          `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
          "Message-ID: <1@shop.test>",
          "Content-Type: text/html",
          "",
          '<p><a href="http://bit.ly/x">Look</a> and <a href="https://shop.test/y">look</a></p>',
          ".",
          "",
        ].join("\r\n"),
      );
      expect(await client.reply()).toMatch(/^250/);
      client.close();

      await page.getByText(/^The mail arrived .*: grade F/).waitFor();
      expect(await readRegion(opened, "SPF")).toMatch(/^SPF fails/);
      expect(await readRegion(opened, "DMARC")).toMatch(/^DMARC fails/);
      expect(await readRegion(opened, "Sending server")).toContain("not encrypted");
      expect(await readRegion(opened, "Links")).toContain("a shortener");
      expect(await readRegion(opened, "Links")).toContain("not encrypted (http)");
      await checkScreen(opened, "mail-test-broken");

      await page.emulateMedia({ media: "print" });
      // The width of a sheet of A4.
      await page.setViewportSize({ width: 720, height: 1000 });
      expect(await page.locator("button:visible").count()).toBe(0);
      expect(await page.getByRole("img", { name: /^Grade/ }).isVisible()).toBe(true);
      await takePicture(page, "mail-test-printed");
    });
  },
  { DNS_SERVERS: server.address, MAIL_DOMAIN: "mail.test", MAIL_PORT: "0" },
);

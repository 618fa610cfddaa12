import { startDnsServer } from "@mailproof/lab/dns-server";
import type { DnsFailure, Records } from "@mailproof/lab/zone";
import { isDmarc, parseDmarc } from "@mailproof/mail/dmarc/record";
import { isSpf, parseSpf } from "@mailproof/mail/spf/parse";
import { parseTagList } from "@mailproof/mail/tag-list";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { RSA_2048 } from "../things/dkim-keys.ts";
import {
  beforeAnswer,
  checkScreen,
  describeInBrowser,
  readCopied,
  takePicture,
} from "./browser.ts";

// A domain from a weak set-up to a better grade, by the record that its report shows: the zone changes during the test.

type Names = Record<string, Records | DnsFailure>;

const INCLUDES = ["a.test", "b.test", "c.test", "d.test"];

const WEAK: Names = {
  "weak.test": {
    MX: [[10, "mx.weak.test"]],
    NS: ["ns1.weak.test", "ns2.weak.test"],
    TXT: [["v=spf1 include:gone.test ip4:9.9.9.9~all"]],
  },
  "mx.weak.test": { A: ["8.8.8.8"] },
  "s1._domainkey.weak.test": {
    TXT: [[`v=DKIM1; p=${RSA_2048.slice(0, 200)}`, RSA_2048.slice(200)]],
  },
  "_dmarc.weak.test": { TXT: [["v=DMARC1; p=quarantine; rua=mailto:d@weak.test"]] },
  "many.test": {
    MX: [[10, "mx.weak.test"]],
    TXT: [[`v=spf1 ${INCLUDES.map((name) => `include:${name}`).join(" ")} a mx ~all`]],
  },
  "_dmarc.many.test": "SERVFAIL",
  "over.test": {
    MX: [[10, "mx.weak.test"]],
    TXT: [
      [`v=spf1 ${INCLUDES.map((name) => `include:${name}`).join(" ")} a mx a:x.over.test ~all`],
    ],
  },
  "x.over.test": { A: ["9.9.9.9"] },
  "plain.test": {
    MX: [[10, "mx.weak.test"]],
    TXT: [["v=spf1 ip4:8.8.8.8 -all"]],
  },
  "8.8.8.8.in-addr.arpa": { PTR: ["mx.weak.test"] },
  ...Object.fromEntries(
    INCLUDES.map((name, n) => [
      name,
      { TXT: [[`v=spf1 include:below.${name} ip4:9.9.${n}.0/24 ~all`]] },
    ]),
  ),
  ...Object.fromEntries(
    INCLUDES.map((name, n) => [`below.${name}`, { TXT: [[`v=spf1 ip4:9.8.${n}.0/24 ~all`]] }]),
  ),
};

let server = await startDnsServer({ "": WEAK }, 0);
afterAll(() => server.close());

/** The owner enters it at the DNS provider. */
const publish = async (name: string, value: string): Promise<void> => {
  const port = Number(server.address.split(":").at(-1));
  await server.close();
  const records = WEAK[name];
  const before = typeof records === "object" ? records : {};
  server = await startDnsServer({ "": { ...WEAK, [name]: { ...before, TXT: [[value]] } } }, port);
};

/** What is wrong with a value to paste: a receiver would read it as the owner meant it. */
/** What a person replaces or deletes. */
const GAP = /<senders in place of [^<>]+> /;

const findFaults = (value: string): readonly unknown[] => {
  if (isSpf(value)) return parseSpf(value).faults;
  if (!isDmarc(value)) return parseTagList(value).strays;
  const { p, strays, repeatedTags, reports } = parseDmarc(value);
  const policy = p === undefined || p === "invalid" ? ["p"] : [];
  return [...policy, ...strays, ...repeatedTags, ...reports.filter(({ isValid }) => !isValid)];
};

const toNumber = (text: string): number => Number(text.replace(",", ""));

const whenChecked = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: /^Check (now|again), 10 credits$/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Check, 10 credits" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
};

describeInBrowser(
  "the screen of a domain's report",
  ({ open }) => {
    test("the screen of a long domain fits a phone", async () => {
      const domain = "newsletters.marketing.an-example-company.test";
      const opened = await open({ path: `domains/${domain}` });
      await opened.page.getByText("has not been checked yet").waitFor();
      expect(await opened.page.getByRole("heading", { level: 1 }).textContent()).toBe(domain);
      await checkScreen(opened, "domain-unchecked", [375]);
    });

    test("a weak domain shows the record to publish and a better grade after its publication", {
      timeout: 120_000,
    }, async () => {
      const opened = await open({ path: "domains", key: "live" });
      const { page, readApi } = opened;
      await page.getByLabel("Domain").fill("weak.test");
      await page.getByRole("button", { name: "Open" }).click();
      await page.getByText("has not been checked yet").waitFor();
      await whenChecked(page);
      const dial = page.getByRole("img", { name: /^Grade [A-F], \d+ of 100$/ });
      const before = await dial.getAttribute("aria-label");

      const { checks } = await readApi<any>("/v1/deliverability/checks?domain=weak.test");
      const check = await readApi<any>(`/v1/deliverability/checks/${checks[0].check_id}`);
      expect(before).toBe(`Grade ${check.grade}, ${check.score} of 100`);
      const { record } = check.recommendations.find((one: any) => one.id === "spf_syntax");
      expect(record.value).toBe("v=spf1 <senders in place of include:gone.test> ip4:9.9.9.9 ~all");
      const filledIn = record.value.replace(GAP, "");
      const fix = page.getByRole("listitem").filter({ hasText: record.value }).first();
      const copy = fix.getByRole("button", { name: "Copy value" });
      expect(await readCopied(page, () => copy.click())).toBe(record.value);
      await checkScreen(opened, "domain-report");

      // What is copied parses.
      const fixes = page.getByRole("region", { name: "What to fix first" });
      await fixes.locator("summary").click();
      const copies = fixes.getByRole("button", { name: "Copy value" });
      expect(await copies.count()).toBeGreaterThan(2);
      for (const button of await copies.all()) {
        const value = await readCopied(page, () => button.click());
        expect([value, findFaults(value.replace(GAP, ""))]).toEqual([value, []]);
      }

      // How the score is calculated: the points add up to the mean, and a part without an answer has none.
      const counting = page.getByRole("region", { name: "How the score is calculated" });
      const parts = await counting.locator("tbody td:last-child").allTextContents();
      const mean = toNumber((await counting.locator("tfoot td").last().textContent()) ?? "");
      expect(parts).toHaveLength(check.score_parts.components.length);
      expect(Math.abs(parts.map(toNumber).reduce((sum, one) => sum + one, 0) - mean)).toBeLessThan(
        1,
      );
      expect(mean).toBe(check.score_parts.before_cap);

      // A card for each of the parts, in words.
      const cards = page.locator("section.card");
      expect(await cards.evaluateAll((all) => all.map((one: any) => one.ariaLabel))).toEqual([
        "Mail hosts (MX)",
        "SPF",
        "DKIM",
        "DMARC",
        "Blocklists",
        "Reverse DNS",
      ]);

      await publish("weak.test", filledIn);
      // Again costs again, so it asks first.
      await page.getByRole("button", { name: "Check again, 10 credits" }).click();
      await page.getByRole("dialog").getByText("A new check costs 10 credits.").waitFor();
      await page.keyboard.press("Escape");
      const asked = await readApi<any>("/v1/deliverability/checks?domain=weak.test");
      expect(asked.checks).toHaveLength(1);

      await whenChecked(page);
      await page.getByRole("heading", { name: "What changed" }).waitFor();
      await expect.poll(() => dial.getAttribute("aria-label")).not.toBe(before);
      const after = await readApi<any>("/v1/deliverability/checks?domain=weak.test");
      expect(after.checks[0].score).toBeGreaterThan(after.checks[1].score);
      expect(after.checks[0].score).toBeGreaterThanOrEqual(check.score + 1);
      expect(await dial.getAttribute("aria-label")).toBe(
        `Grade ${after.checks[0].grade}, ${after.checks[0].score} of 100`,
      );
      const changes = page.getByRole("region", { name: "What changed" });
      expect(await changes.locator(".removed").first().textContent()).toContain(
        "include:gone.test",
      );
      expect(await changes.locator(".added").first().textContent()).toContain(filledIn);
    });

    test("a check asks for confirmation, and a deep link and a reload show the same report", {
      timeout: 60_000,
    }, async () => {
      const { page, requests, readApi } = await open({ path: "domains/many.test", key: "live" });
      const { credits } = await readApi<any>("/v1/account");
      const button = page.getByRole("button", { name: "Check now, 10 credits" });
      await button.click();
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      expect(await page.evaluate("document.activeElement.textContent")).toBe(
        "Check now, 10 credits",
      );
      expect(requests.filter((one) => one.startsWith("POST"))).toEqual([]);
      expect((await readApi<any>("/v1/account")).credits.available).toBe(credits.available);

      await whenChecked(page);
      const dial = page.getByRole("img", { name: /^Grade/ });
      const shown = await dial.getAttribute("aria-label");
      await page.reload();
      expect(await dial.getAttribute("aria-label")).toBe(shown);
    });

    test("the SPF tree counts to ten, replaces a chosen include and shows a missing reply without red", {
      timeout: 120_000,
    }, async () => {
      const opened = await open({ path: "domains/many.test", key: "live" });
      const { page } = opened;
      const again = page.getByRole("button", { name: /^Check (now|again)/ });
      await again.waitFor();
      if ((await again.textContent())?.includes("now")) await whenChecked(page);
      // What regains most comes first.
      const fixes = page.getByRole("region", { name: "What to fix first" });
      const points = (await fixes.locator("ol .points").allTextContents()).map((text) =>
        Number(/[\d.]+/.exec(text)?.[0]),
      );
      expect(points.length).toBeGreaterThan(1);
      expect(points).toEqual(points.toSorted((a, b) => b - a));

      const tree = page.getByRole("region", { name: "SPF look-ups" });
      await tree.getByText("10 of 10").waitFor();
      await tree.getByLabel("Replace by 2 address blocks").first().check();
      await tree.getByText("8 of 10 look-ups").waitFor();
      expect(await tree.locator(".record .value").textContent()).toContain("ip4:9.8.0.0/24");

      const dmarc = page.getByRole("region", { name: "DMARC" });
      expect(await dmarc.getByText("no answer").getAttribute("class")).toContain("grey");
      expect(await dmarc.locator(".bad").count()).toBe(0);
      // Nor is anything else that had no answer.
      const red = await page.locator(".state.bad").allTextContents();
      expect(red.filter((text) => /no answer|not checked/.test(text))).toEqual([]);
      await page.getByText("left out of the score: DMARC").waitFor();
      await checkScreen(opened, "domain-tree");
    });

    test("one choice reduces an SPF record to ten look-ups with as few replaced includes as possible", async () => {
      const { page } = await open({ path: "domains/over.test", key: "live" });
      await whenChecked(page);
      await page.getByRole("link", { name: "Choose what to replace" }).click();
      const tree = page.getByRole("region", { name: "SPF look-ups" });
      await tree.getByText("11 of 10").waitFor();

      await tree.getByRole("button", { name: "Choose as few as possible" }).click();

      await tree.getByText("9 of 10 look-ups").waitFor();
      expect(await tree.getByRole("checkbox", { checked: true }).count()).toBe(1);
    });

    test("the report's link opens for another key of the account, and the report prints on one page", {
      timeout: 60_000,
    }, async () => {
      const first = await open({ path: "domains/weak.test", key: "live" });
      const { ready } = first;
      const shown = first.page.getByRole("img", { name: /^Grade/ });
      const created = await fetch(`${ready.base_url}/v1/api-keys`, {
        method: "POST",
        headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
        body: JSON.stringify({
          name: "a colleague",
          mode: "live",
          scopes: ["deliverability:read", "account:read"],
        }),
      });
      const { data } = (await created.json()) as { readonly data: { readonly key: string } };
      const path = first.page.url().split("/app/")[1] ?? "";

      const { page } = await open({ path, key: { secret: data.key } });
      const dial = page.getByRole("img", { name: /^Grade/ });
      expect(await dial.getAttribute("aria-label")).toBe(await shown.getAttribute("aria-label"));
      await page.getByRole("region", { name: "SPF", exact: true }).waitFor();

      const pdf = await page.pdf({ format: "A4" });
      expect(pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g)).toHaveLength(1);
      await page.emulateMedia({ media: "print" });
      await takePicture(page, "domain-printed");
      expect(await page.locator("button:visible").count()).toBe(0);
      expect(await dial.isVisible()).toBe(true);
    });

    test("a check with a sending address runs once when sent twice by keyboard, and includes reverse DNS", {
      timeout: 60_000,
    }, async () => {
      const { page, readApi } = await open({ path: "domains/plain.test", key: "live" });
      const read = async () => (await readApi<any>("/v1/account")).credits.available;
      const before = await read();
      await page.getByRole("button", { name: "Check now, 10 credits" }).focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      const field = dialog.getByLabel("IP address that you send from");
      await dialog.waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("sending-ip");
      await page.keyboard.type("8.8.8");
      await page.keyboard.press("Enter");
      const alert = dialog.getByRole("alert");
      await alert.waitFor();
      expect(await alert.textContent()).toContain("sending_ip");
      expect(await read()).toBe(before);

      await page.keyboard.type(".8");
      expect(await alert.count()).toBe(0);
      await beforeAnswer(page, async () => {
        await page.keyboard.press("Enter");
        await page.keyboard.press("Enter");
      });
      await page.getByText("sending from 8.8.8.8").waitFor();

      expect(await read()).toBe(before - 10);
      const { checks } = await readApi<any>("/v1/deliverability/checks?domain=plain.test");
      expect(checks).toMatchObject([{ sending_ip: "8.8.8.8" }]);
      const card = page.getByRole("region", { name: "Reverse DNS" });
      expect(await card.textContent()).toContain("mx.weak.test");
      await page.getByRole("button", { name: "Check again, 10 credits" }).click();
      expect(await field.inputValue()).toBe("8.8.8.8");
    });

    test("the list of domains shows each latest grade, links to its report and returns by Back", {
      timeout: 60_000,
    }, async () => {
      const opened = await open({ path: "domains", key: "live" });
      const { page, readApi } = opened;
      const rows = page.locator(".domain-list > li");
      await rows.first().waitFor();
      const { checks } = await readApi<any>("/v1/deliverability/checks?limit=100");
      const latest = new Map<string, any>();
      for (const check of checks) if (!latest.has(check.domain)) latest.set(check.domain, check);

      const texts = (await rows.allTextContents()).map((text) => text.replace(/\s+/g, " "));
      expect(texts).toHaveLength(latest.size);
      for (const [at, { domain, grade, score }] of [...latest.values()].entries()) {
        expect(texts[at]).toContain(`Grade ${grade}${domain}`);
        expect(texts[at]).toContain(`${score} of 100`);
      }
      await checkScreen(opened, "domains");

      await page.getByRole("button", { name: "Open" }).click();
      expect(await page.evaluate("document.activeElement.id")).toBe("domain");
      await page.getByRole("link", { name: "weak.test" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "weak.test", level: 1 }).waitFor();
      await page.goBack();
      await rows.first().waitFor();
    });

    test("the screen shows the monthly price before monitoring a domain, and its monitor's light and change", {
      timeout: 120_000,
    }, async () => {
      const opened = await open({ path: "domains/weak.test", key: "live" });
      const { page, readApi } = opened;
      await page.getByRole("button", { name: "Watch this domain" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("300 credits a month").waitFor();
      await dialog.getByLabel("How often").selectOption("Every week");
      await dialog.getByText(/42\.\d+ credits a month/).waitFor();
      await dialog.getByRole("button", { name: "Add the monitor" }).click();
      await page.getByRole("link", { name: "Watched: see monitors" }).click();

      await page.getByRole("link", { name: "weak.test" }).waitFor();
      const { monitors } = await readApi<any>("/v1/deliverability/monitors");
      expect(monitors).toMatchObject([{ domain: "weak.test", interval_hours: 168 }]);
      await page.getByRole("img", { name: /^(Good|Could be better|Bad)$/ }).waitFor();
      const { checks } = await readApi<any>("/v1/deliverability/checks?domain=weak.test");
      const scores = checks.map(({ score }: any) => score).toReversed();
      await page
        .getByRole("img", { name: `${scores.length} checks, oldest first: ${scores.join(", ")}` })
        .waitFor();
      await page.getByText("What changed").click();
      await page.locator(".diff .added").first().waitFor();
      await checkScreen(opened, "monitors");

      const remove = page.getByRole("button", { name: "Remove the monitor of weak.test" });
      await remove.focus();
      await page.keyboard.press("Enter");
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      expect(await page.evaluate("document.activeElement.textContent")).toContain("Remove");
      await remove.click();
      await dialog.getByRole("button", { name: "Stop watching" }).click();
      await page.getByText("No domains are watched yet.").waitFor();
      expect((await readApi<any>("/v1/deliverability/monitors")).monitors).toEqual([]);
    });

    test("a monitor's light is green for A and B, red for F, and grey without a reply", {
      timeout: 60_000,
    }, async () => {
      const opened = await open({ path: "monitors" });
      const { page, ready } = opened;
      const lights = {
        "example.com": "Good",
        "weak.example": "Good",
        "nospf.example": "Could be better",
        "nomx.example": "Bad",
        "dnsfail.example": "Not known",
      };
      for (const domain of Object.keys(lights))
        await fetch(`${ready.base_url}/v1/deliverability/monitors`, {
          method: "POST",
          headers: { "x-api-key": ready.test_key, "content-type": "application/json" },
          body: JSON.stringify({ domain, interval_hours: 24 }),
        });
      await page.reload();
      await page
        .getByText("The name servers did not answer during the last run, which was free.")
        .waitFor();

      for (const [domain, light] of Object.entries(lights)) {
        const row = page.getByRole("listitem").filter({ hasText: domain });
        await row.getByRole("img", { name: light }).waitFor();
      }
      expect(await page.locator(".light.bad").count()).toBe(1);
      await checkScreen(opened, "monitor-lights", [1280, 375]);
    });
  },
  { DNS_SERVERS: server.address },
);

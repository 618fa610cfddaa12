import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  createDmarcReport,
  createRecord,
  createTlsReport,
  createZip,
} from "../things/made-reports.ts";
import { createBareReportMail } from "../things/reports.ts";
import {
  checkScreen,
  describeInBrowser,
  type OpenedPage,
  REFUSED,
  readCopied,
  takePicture,
} from "./browser.ts";
import { callApi } from "./jobs.ts";

const DAY_S = 86_400;
/** The beginning of a day so many days ago, in seconds. */
const daysAgo = (days: number): number => (Math.floor(Date.now() / 1000 / DAY_S) - days) * DAY_S;

const RECORDS = [
  createRecord({ ip: "192.0.2.1", count: 900 }),
  createRecord({
    ip: "198.51.100.7",
    count: 120,
    dkim: "fail",
    spf: "fail",
    auth: "<spf><domain>bounce.sendgrid.net</domain><result>pass</result></spf>",
  }),
  createRecord({
    ip: "203.0.113.9",
    count: 40,
    dkim: "fail",
    spf: "fail",
    disposition: "quarantine",
    auth: "<spf><domain>example.com</domain><result>fail</result></spf>",
  }),
  createRecord({
    ip: "203.0.113.77",
    count: 15,
    dkim: "fail",
    spf: "fail",
    reasons: ["forwarded"],
    auth: "<spf><domain>example.com</domain><result>fail</result></spf>",
  }),
];

const createReport = (domain: string, days: number, records = RECORDS): string =>
  createDmarcReport({
    domain,
    id: `${domain} ${days}`,
    begin: daysAgo(days),
    end: daysAgo(days) + DAY_S - 1,
    records: records.map((one) => one.replaceAll("example.com", domain)),
  });

const createTls = (domain: string): string => {
  const at = new Date(daysAgo(1) * 1000).toISOString();
  const report = JSON.stringify(
    createTlsReport({ "date-range": { "start-datetime": at, "end-datetime": at } }),
  );
  return report.replaceAll("example.com", domain);
};

type NamedFile = { readonly name: string; readonly buffer: Buffer };

const toFile = (name: string, content: string | Buffer): NamedFile & { mimeType: string } => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content as string),
});

const choose = ({ page }: OpenedPage, files: ReturnType<typeof toFile>[]) =>
  page.locator('.upload input[type="file"]').setInputFiles(files);

const readUploads = async ({ page }: OpenedPage): Promise<readonly string[]> =>
  (await page.locator(".uploads > li").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));

const upload = (opened: OpenedPage, content: string) =>
  callApi(opened, "POST /v1/deliverability/reports", {
    content: Buffer.from(content).toString("base64"),
  });

const PATH = (domain: string) => `/v1/deliverability/domains/${domain}/reports`;

describeInBrowser("the screen of a domain's reports", ({ open }) => {
  test("each of several uploaded files shows its outcome: stored, stored before, or the fault", {
    timeout: 60_000,
  }, async () => {
    const opened = await open({ path: "domains/files.example/reports" });
    const { page, readApi } = opened;
    await page.getByText("No reports in the last 30 days").waitFor();
    const report = createReport("files.example", 2);
    await choose(opened, [
      toFile("google.xml.gz", gzipSync(report)),
      toFile("again.xml", report),
      toFile("other.zip", createZip({ name: "a.xml", content: createReport("other.example", 2) })),
      toFile("tls.json", createTls("files.example")),
      toFile("picture.xml", "<svg/>"),
      toFile("empty.xml", ""),
      toFile("large.xml", Buffer.alloc(3_700_001)),
    ]);

    await expect
      .poll(async () => (await readUploads(opened)).filter((one) => /waiting|reading/.test(one)))
      .toEqual([]);
    const [first, again, other, tls, picture, empty, large] = await readUploads(opened);
    expect(first).toMatch(
      /^google\.xml\.gz stored DMARC report of google\.com about files\.example from .*: 1,075 messages\.$/,
    );
    expect(again).toMatch(/^again\.xml stored before DMARC report/);
    expect(other).toMatch(/^other\.zip stored DMARC report of google\.com about other\.example/);
    expect(tls).toMatch(/^tls\.json stored TLS report of Receiver Inc\. .*: 103 sessions\.$/);
    expect(picture).toMatch(/^picture\.xml not stored .*feedback/);
    expect(empty).toMatch(/^empty\.xml not stored .*content/);
    expect(large).toMatch(/^large\.xml not stored .*3\.7 MB/);
    // What was stored is on the screen without a reload.
    await page.getByRole("table", { name: "Senders" }).waitFor();
    expect(await readApi<any>(PATH("files.example"))).toMatchObject({
      dmarc: { reports: 1 },
      tls: { reports: 1, succeeded: 100, failed: 3 },
    });
    await page.getByText("MTA-STS: 100 sessions succeeded, 3 failed").waitFor();
    await checkScreen(opened, "domain-reports-uploaded", [1280, 375]);

    await page.locator(".uploads").getByRole("link", { name: "other.example" }).click();
    await page.getByRole("heading", { name: "other.example: reports", level: 1 }).waitFor();
    await page.getByRole("table", { name: "Senders" }).waitFor();
  });

  test("the screen shows the fault of a report that still counts", async () => {
    const opened = await open({ path: "domains/faults.example/reports" });
    const { page } = opened;
    await page.getByText("No reports in the last 30 days").waitFor();
    await upload(opened, createReport("faults.example", 1).replace("google.com", "A&B"));

    await page.reload();

    await page.getByRole("heading", { name: "Faults in reports" }).waitFor();
    const faults = await page.getByRole("region", { name: "Faults in reports" }).innerText();
    expect(faults).toMatch(
      /A&B: feedback\.report_metadata\.org_name .* The report is still counted\./,
    );
    await checkScreen(opened, "domain-report-faults", [1280, 375]);
  });

  test("an uploaded mailbox stores the report of each mail, and shows the outcome per mail", async () => {
    const opened = await open({ path: "domains/mailbox.example/reports" });
    await opened.page.getByText("No reports in the last 30 days").waitFor();
    const mails = [1, 2].map((days) =>
      createBareReportMail({
        content: gzipSync(createReport("mailbox.example", days)),
        fields: ["X-Name: É"],
      }),
    );

    const mailbox = mails.map((mail) => `From reports@receiver.example\r\n${mail}\r\n`).join("");
    await choose(opened, [toFile("inbox.mbox", mailbox)]);

    await opened.page.getByText("2,150 messages", { exact: false }).first().waitFor();
    expect(await readUploads(opened)).toEqual([
      expect.stringMatching(/^inbox\.mbox, mail 1 stored DMARC report/),
      expect.stringMatching(/^inbox\.mbox, mail 2 stored DMARC report/),
    ]);
  });

  test("the screen reads a dropped file, and Retry sends an interrupted one again", async () => {
    const opened = await open({ path: "domains/dropped.example/reports" });
    const { page, readApi } = opened;
    await page.getByText("No reports in the last 30 days").waitFor();
    await page.route("**/v1/deliverability/reports", (route) => route.fulfill(REFUSED));
    await page.evaluate(
      `(() => {
        const files = new DataTransfer();
        files.items.add(new File([${JSON.stringify(createReport("dropped.example", 1))}], "dropped.xml"));
        document.querySelector(".drop").dispatchEvent(
          new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }),
        );
      })()`,
    );
    const entry = page.locator(".uploads > li");
    await entry.getByText("cannot read its own state right now").waitFor();
    expect((await readApi<any>(PATH("dropped.example"))).dmarc.reports).toBe(0);

    await page.unroute("**/v1/deliverability/reports");
    await entry.getByRole("button", { name: "Retry" }).click();
    await entry.getByText("stored", { exact: true }).waitFor();
    expect((await readApi<any>(PATH("dropped.example"))).dmarc.reports).toBe(1);
  });

  test("the navigation leads to the reports and the upload of any domain", async () => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole("link", { name: "DMARC reports" }).click();
    await page.getByRole("heading", { name: "DMARC reports", level: 1 }).waitFor();

    const buffer = Buffer.from(createReport("navigated.example", 1));
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "report.xml", mimeType: "text/xml", buffer });
    await page.locator(".uploads").getByRole("link", { name: "navigated.example" }).click();

    await page.getByRole("heading", { name: "navigated.example: reports" }).waitFor();
    await page.getByText("1,075 messages", { exact: false }).first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/app/domains/navigated.example/reports");
  });

  test("the screen DMARC reports shows the messages, the aligned share and the trend of each domain with reports", async () => {
    const opened = await open();
    const { page, ready, readApi } = opened;
    for (const days of [1, 3]) await upload(opened, createReport("listed.example", days));
    await upload(opened, createReport("listed.example", 40, RECORDS.slice(0, 1)));
    await upload(opened, createReport("listed-old.example", 900));
    await callApi(opened, "POST /v1/deliverability/check", { domain: "unreported.example" });

    await page.goto(`${ready.base_url}/app/reports`);

    const rows = page.getByRole("table", { name: "Domains with reports" }).getByRole("row");
    const { domains } = await readApi<any>("/v1/deliverability/domains");
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(domains.length + 1);
    const listed = (await rows.filter({ hasText: "listed.example" }).innerText()).split(
      /\s{2,}|\t/,
    );
    expect(listed).toEqual(expect.arrayContaining(["2,150", "83.7%", "-16.3 points"]));
    await page
      .getByRole("region", { name: "Checked domains without reports" })
      .getByRole("link", { name: "unreported.example" })
      .waitFor();
    await checkScreen(opened, "all-reports", [1920, 1280, 375]);
    await rows.getByRole("link", { name: "listed-old.example" }).click();
    await page.getByRole("table", { name: "Senders" }).waitFor();
  });

  test("the screen shows the API's sums, daily bars and sources, and the advice about each source", {
    timeout: 60_000,
  }, async () => {
    const opened = await open();
    const { page, ready, readApi } = opened;
    for (const days of [1, 2, 5]) await upload(opened, createReport("shown.example", days));
    await page.goto(`${ready.base_url}/app/domains/shown.example/reports`);
    const reports = await readApi<any>(PATH("shown.example"));
    expect(reports.dmarc.messages).toBe(3 * 1_075);

    const chart = page.getByRole("img", { name: "3,225 messages in 30 days." });
    await chart.waitFor();
    // Three days with three parts each.
    expect(await chart.locator("rect[class^=is-]").count()).toBe(9);
    await page.getByText("Numbers").click();
    const numbers = await page
      .locator(".day-chart + .stacked-bar + details tbody tr")
      .allInnerTexts();
    expect(numbers.map((text) => text.split(/\s+/))).toEqual(
      reports.dmarc.days.map(({ day }: any) => [day, "900", "15", "160"]),
    );
    await page.getByText("83.7% of 3,225 messages aligned").waitFor();

    const senders = page.getByRole("table", { name: "Senders" }).getByRole("row");
    expect(await senders.count()).toBe(reports.dmarc.senders.length + 1);
    for (const [at, { name, advice }] of reports.dmarc.senders.entries()) {
      const text = await senders.nth(at + 1).innerText();
      expect(text).toContain(name);
      expect(text).toContain(advice.text);
    }
    await page.getByText("4 addresses", { exact: true }).click();
    const rows = page.getByRole("table", { name: "Sources" }).getByRole("row");
    expect(await rows.count()).toBe(reports.dmarc.sources.length + 1);
    for (const [at, source] of reports.dmarc.sources.entries()) {
      const text = await rows.nth(at + 1).innerText();
      expect(text).toContain(source.ip);
      expect(text).toContain(source.messages.toLocaleString("en"));
      expect(text).toContain(source.advice.text);
    }
    const unknown = rows.filter({ hasText: "203.0.113.9" });
    const term = unknown.getByRole("button", { name: "Copy term" });
    expect(await readCopied(page, () => term.click())).toBe("ip4:203.0.113.9");
    await senders.getByText("SendGrid", { exact: true }).waitFor();
    await checkScreen(opened, "domain-reports");

    await page.getByLabel("Show", { exact: true }).selectOption("7");
    await page.getByRole("img", { name: "3,225 messages in 7 days." }).waitFor();
    await page.reload();
    expect(await page.getByLabel("Show", { exact: true }).inputValue()).toBe("7");
    await page.getByRole("img", { name: "3,225 messages in 7 days." }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 720, height: 1000 });
    expect(await page.locator("button:visible").count()).toBe(0);
    await takePicture(page, "domain-reports-printed");
  });

  test("a domain without reports shows the record that requests them", async () => {
    const opened = await open({ path: "domains/nodmarc.example/reports" });
    const { page, ready } = opened;
    await page.getByRole("link", { name: "Check the domain" }).waitFor();
    await checkScreen(opened, "domain-reports-none", [375]);
    const check = await callApi(opened, "POST /v1/deliverability/check", {
      domain: "nodmarc.example",
    });
    const { record } = check.recommendations.find(
      (one: any) => one.record?.name === "_dmarc.nodmarc.example",
    );
    expect(record.value).toContain("rua=mailto:");

    await page.goto(`${ready.base_url}/app/domains/nodmarc.example/reports`);
    await page.getByText("This record requests them:").waitFor();
    const value = page.getByRole("button", { name: "Copy value" });
    expect(await readCopied(page, () => value.click())).toBe(record.value);
    await checkScreen(opened, "domain-reports-record", [1280, 375]);
  });

  test("the links to pages of many sources survive a reload", async () => {
    const opened = await open();
    const { page, ready } = opened;
    const records = Array.from({ length: 60 }, (_, n) =>
      createRecord({ ip: `192.0.2.${n + 1}`, count: 100 - n }),
    );
    await upload(opened, createReport("paged.example", 1, records));
    await page.goto(`${ready.base_url}/app/domains/paged.example/reports`);
    const rows = page.getByRole("table", { name: "Sources" }).getByRole("row");
    const addresses = page.getByText("60 addresses", { exact: true }).last();
    await addresses.click();
    await page.getByRole("link", { name: "Smaller sources" }).click();
    await rows.getByText("192.0.2.60").waitFor();
    expect(await rows.count()).toBe(11);
    await page.reload();
    await rows.getByText("192.0.2.60").waitFor();
    expect(await page.getByRole("link", { name: "Smaller sources" }).count()).toBe(0);
    await page.goBack();
    await addresses.click();
    await rows.getByText("192.0.2.1", { exact: true }).waitFor();
  });

  test("the page of 14 sources shows each sender in one line, and is at most 1,600 pixels long at 1920", async () => {
    const opened = await open({ width: 1920 });
    const { page, ready } = opened;
    const records = Array.from({ length: 14 }, (_, n) => {
      const failed = { dkim: "fail", spf: "fail", auth: "" };
      return createRecord({ ip: `192.0.${n}.1`, count: 100 - n, ...(n > 4 && failed) });
    });
    await upload(opened, createReport("long.example", 1, records));

    await page.goto(`${ready.base_url}/app/domains/long.example/reports`);

    const rows = page.getByRole("table", { name: "Senders" }).getByRole("row");
    await rows.getByText("192.0.13.0/24").waitFor();
    expect(await rows.count()).toBe(15);
    const height = await page.evaluate<number>("document.documentElement.scrollHeight");
    expect(height).toBeLessThanOrEqual(1_600);
    await checkScreen(opened, "domain-reports-long", [1920, 1280, 375]);
  });

  test("an upload about an earlier year leads to the days that it is about, and so does an empty window", async () => {
    const opened = await open({ path: "domains/earlier.example/reports" });
    const { page } = opened;
    await page.getByText("No reports in the last 30 days").waitFor();

    await choose(opened, [toFile("old.xml", createReport("earlier.example", 2_000))]);

    await page.getByRole("link", { name: "Show the newest" }).waitFor();
    await checkScreen(opened, "domain-reports-empty-window", [1280, 375]);
    const senders = page.getByRole("table", { name: "Senders" });
    await page.getByRole("link", { name: "Show the newest" }).click();
    await senders.waitFor();
    await page.getByRole("link", { name: "Until today" }).click();
    await page.getByText("No reports in the last 30 days").waitFor();
    await page.locator(".uploads").getByRole("link", { name: "earlier.example" }).click();
    await senders.waitFor();
    await page.getByLabel("Show", { exact: true }).selectOption("400");
    // One day of messages draws no chart.
    const sum = page.locator(".day-chart figcaption").getByText("1,075 messages");
    await sum.waitFor();
    expect(await sum.count()).toBe(1);
  });
});

describeInBrowser(
  "the screen of reports by mail",
  ({ open }) => {
    test("the screen shows the address for receivers' reports before and after the first report", async () => {
      const opened = await open({ path: "domains/mailed.example/reports", key: "live" });
      const { page, readApi } = opened;
      const copy = page.getByRole("button", { name: "Copy address" });
      const copied = await readCopied(page, () => copy.click());
      const { reports_address: address } = await readApi<any>(PATH("mailed.example"));
      expect(address).toMatch(/^reports-.*@mail\.test$/);
      expect(copied).toBe(`mailto:${address}`);
      await checkScreen(opened, "domain-reports-address", [1280, 375]);

      await choose(opened, [toFile("one.xml", createReport("mailed.example", 1))]);
      await page.getByRole("table", { name: "Senders" }).waitFor();
      await page.getByText(`mailto:${address}`).waitFor();
    });
  },
  { MAIL_DOMAIN: "mail.test", MAIL_PORT: "0" },
);

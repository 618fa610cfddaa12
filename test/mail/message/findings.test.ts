import { MessageReportBody } from "@mailproof/api/schema/message-report";
import { toMessageReport } from "@mailproof/api/schema/to-message-report";
import * as v from "valibot";
import { expect, test } from "vitest";
import type { Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import {
  assess,
  createRsa,
  GOOD,
  IP,
  LIST,
  type MailOptions,
  sign,
  writeMail,
} from "../../things/mails.ts";

type Case = {
  readonly mail?: MailOptions;
  readonly zone?: Zone;
  readonly sent?: Parameters<typeof assess>[2];
  readonly change?: (mail: string) => string;
};

/** The mail without fault, with one thing changed before it is signed, or after. */
const judge = async ({ mail, zone, sent, change = (raw) => raw }: Case) =>
  assess(change(await sign(writeMail(mail))), { ...GOOD, ...zone }, sent);

const HTML_TYPE = { "Content-Type": "text/html; charset=utf-8" };
const page = (html: string): Case => ({
  mail: {
    fields: HTML_TYPE,
    body: `<p>${"A sentence that is long enough. ".repeat(3)}</p>${html}`,
  },
});
const WITHOUT_TEXT = ["TEXT_MISSING"];

const WEAK = createRsa(1024);

/** One row per finding: what is changed, and all that is found then. */
const CASES: readonly (readonly [what: string, found: readonly string[], given: Case])[] = asRows`
  no SPF record | [SPF_NONE DMARC_DKIM_ONLY] | ${{ zone: { "example.com": { MX: ["10 mx1.example.com"] } } }}
  an SPF record that fails | [SPF_FAIL DMARC_DKIM_ONLY] | ${{ zone: { "example.com": { TXT: ["v=spf1 -all"] } } }}
  a softfail | [SPF_SOFTFAIL DMARC_DKIM_ONLY] | ${{ zone: { "example.com": { TXT: ["v=spf1 ~all"] } } }}
  a broken SPF record | [SPF_PERMERROR DMARC_DKIM_ONLY] | ${{ zone: { "example.com": { TXT: ["v=spf1 foo"] } } }}
  SPF without an answer | [SPF_UNANSWERED] | ${{ zone: { "example.com": "SERVFAIL" } }}
  a HELO name that does not allow the client | [SPF_HELO] | ${{ zone: { "out.example.com": { A: [IP], TXT: ["v=spf1 -all"] } } }}
  a weak key | [DKIM_1024] | ${{ zone: { "s1._domainkey.example.com": { TXT: [WEAK.record] } } }}
  no DMARC record | [DMARC_MISSING] | ${{ zone: { "_dmarc.example.com": {} } }}
  DMARC without an answer | [DMARC_UNANSWERED] | ${{ zone: { "_dmarc.example.com": "TIMEOUT" } }}
  a policy of none | [DMARC_NONE] | ${{ zone: { "_dmarc.example.com": { TXT: ["v=DMARC1; p=none"] } } }}
  no TLS | [TLS_MISSING] | ${{ sent: { tls: undefined } }}
  old TLS | [TLS_OLD] | ${{ sent: { tls: { version: "TLSv1.1", cipher: "x" } } }}
  no reverse name | [PTR_MISSING] | ${{ zone: { "10.8.8.8.in-addr.arpa": {} } }}
  a HELO that is no name | [HELO_INVALID] | ${{ sent: { helo: "localhost" } }}
  a HELO that is an address | [HELO_LITERAL] | ${{ sent: { helo: `[${IP}]` } }}
  a HELO without an address | [HELO_UNRESOLVED] | ${{ sent: { helo: "gone.example.com" } }}
  a HELO of another host | [HELO_MISMATCH] | ${{ sent: { helo: "mx1.example.com" } }}
  a listed client | ${[`LISTED:${LIST}`]} | ${{ zone: { [`10.8.8.8.${LIST}`]: { A: ["127.0.0.2"] } } }}
  a listed link | [LINK_LISTED] | ${{ zone: { [`bad.test.d.${LIST}`]: { A: ["127.0.0.2"] } }, mail: { body: "See https://www.bad.test/x" } }}
  no Date | [DATE_MISSING] | ${{ mail: { fields: { Date: null } } }}
  a Date that is none | [DATE_INVALID] | ${{ mail: { fields: { Date: "2026-11-23" } } }}
  a Date of last week | [DATE_FAR] | ${{ mail: { fields: { Date: "16 Nov 2026 12:00 GMT" } } }}
  no Message-ID | [MESSAGE_ID_MISSING] | ${{ mail: { fields: { "Message-ID": null } } }}
  a Message-ID without brackets | [MESSAGE_ID_INVALID] | ${{ mail: { fields: { "Message-ID": "1@example.com" } } }}
  two subjects | [FIELDS_REPEATED] | ${{ change: (raw: string) => raw.replace("\r\nTo:", "\r\nSubject: x\r\nTo:") }}
  no recipient | [RECIPIENT_MISSING] | ${{ mail: { fields: { To: null } } }}
  MIME without its version | [MIME_VERSION_MISSING] | ${{ mail: { fields: { "MIME-Version": null, "Content-Type": "text/plain" } } }}
  8-bit fields | [HEADER_EIGHT_BIT] | ${{ mail: { fields: { Subject: "caf\xe9 au lait" } } }}
  a line that is no field | [HEADER_STRAY] | ${{ change: (raw: string) => `nonsense\r\n${raw}` }}
  another address in the name | [FROM_NAME_ADDRESS] | ${{ mail: { fields: { From: '"pay@bank.test" <ann@example.com>' } } }}
  two authors | [FROM_MAILBOXES] | ${{ mail: { fields: { From: "ann@example.com, bob@example.com" } } }}
  no way to unsubscribe | [UNSUBSCRIBE_MISSING] | ${{ mail: { fields: { "List-Unsubscribe": null, "List-Unsubscribe-Post": null } } }}
  unsubscribing by mail alone | [UNSUBSCRIBE_NOT_ONE_CLICK] | ${{ mail: { fields: { "List-Unsubscribe": "<mailto:u@example.com>" } } }}
  no subject | [SUBJECT_MISSING] | ${{ mail: { fields: { Subject: null } } }}
  a subject in capitals | [SUBJECT_CAPITALS] | ${{ mail: { fields: { Subject: "BUY THIS NOW" } } }}
  a subject that shouts | [SUBJECT_MARKS] | ${{ mail: { fields: { Subject: "Buy!!" } } }}
  a false reply | [SUBJECT_FALSE_REPLY] | ${{ mail: { fields: { Subject: "Re: your order" } } }}
  no text | [BODY_EMPTY] | ${{ mail: { body: "" } }}
  HTML alone | ${WITHOUT_TEXT} | ${page("")}
  much HTML | ${[...WITHOUT_TEXT, "HTML_CLIPPED"]} | ${page("<p>x</p>\r\n".repeat(12_000))}
  a picture alone | ${["IMAGES_ONLY", ...WITHOUT_TEXT]} | ${{ mail: { fields: HTML_TYPE, body: '<img src="https://example.com/a.png">' } }}
  a script | ${["SCRIPT", ...WITHOUT_TEXT]} | ${page("<script>x()</script>")}
  a handler | ${["SCRIPT", ...WITHOUT_TEXT]} | ${page('<b onclick="x()">y</b>')}
  a javascript link | ${["SCRIPT", ...WITHOUT_TEXT]} | ${page('<a href="javascript:x()">y</a>')}
  a form | ${["FORM", ...WITHOUT_TEXT]} | ${page("<form><input></form>")}
  a link that shows another | ${["LINK_MISMATCH", ...WITHOUT_TEXT]} | ${page('<a href="https://evil.test/">www.bank.test</a>')}
  a link that is not encrypted | ${[...WITHOUT_TEXT, "LINK_PLAIN"]} | ${page('<a href="http://example.com/">here</a>')}
  a shortened link | ${["LINK_SHORTENER", ...WITHOUT_TEXT]} | ${page('<a href="https://bit.ly/x">here</a>')}
  a link to an address | ${["LINK_IP", ...WITHOUT_TEXT]} | ${page('<a href="https://192.0.2.1/x">here</a>')}
  a long line | [LINE_LONG] | ${{ mail: { body: "x".repeat(999) } }}
  bare line feeds | [LINE_ENDS] | ${{ change: (raw: string) => raw.replace("today.", "today.").replaceAll(/\r\n$/g, "\n") }}
  an unknown character set | [CHARSET_UNKNOWN] | ${{ mail: { fields: { "Content-Type": "text/plain; charset=klingon" } } }}
  a broken multipart | [PARTS_BROKEN] | ${{ mail: { fields: { "Content-Type": "multipart/mixed" } } }}
  many parts | [PARTS_MANY] | ${{ mail: { fields: { "Content-Type": "multipart/mixed; boundary=o" }, body: "--o\r\n\r\nx\r\n".repeat(300) } }}
`;

test.each(CASES)(
  "the report of a message contains, for %s, the findings %j",
  async (_what, expected, given) => {
    const key = given.zone?.["s1._domainkey.example.com"] ? { key: WEAK } : {};
    const { mail, zone, sent, change = (raw: string) => raw } = given;
    const signed = change(await sign(writeMail(mail), key));
    const { findings, scored } = await assess(signed, { ...GOOD, ...zone }, sent);
    const found = findings.map(({ id }) => id);

    expect(found.filter((id) => expected.includes(id)).toSorted()).toEqual(expected.toSorted());
    expect(found.filter((id) => !expected.includes(id) && !BESIDE.has(id))).toEqual([]);
    for (const { advice, message, costPoints } of findings) {
      expect(`${message} ${advice}`).not.toMatch(/\{|undefined/);
      expect(costPoints).toBeGreaterThanOrEqual(0);
    }
    const { score, uncapped, cappedBy, parts } = scored;
    const sum = parts.reduce((total, one) => total + one.weight * one.score, 0);
    const weights = parts.reduce((total, one) => total + one.weight, 0);
    expect(uncapped).toBe(Math.round(sum / weights));
    expect(score).toBe(cappedBy === null ? uncapped : Math.min(score, uncapped - 1));
  },
);

/** Findings that come with several others: of a mail without MX or text, or of a name without its own key. */
const BESIDE = new Set(["DKIM_FIELDS"]);

test("a mail without a signature from a forbidden server gets the grade F", async () => {
  const { scored, dmarc, requirements } = await assess(writeMail(), GOOD, { ip: "1.2.3.4" });

  expect(dmarc).toMatchObject({ result: "fail", policy: "reject", disposition: "reject" });
  expect(scored).toMatchObject({ score: 29, grade: "F" });
  const unmet = requirements.filter(({ status }) => status === "unmet").map(({ id }) => id);
  expect(unmet).toEqual(["spf", "dkim", "alignment", "reverse_dns", "one_click_unsubscribe"]);
});

test("two From fields leave no author, and the score stays below 40", async () => {
  const { header, scored, dmarc } = await assess(`From: eve@other.test\r\n${writeMail()}`);

  expect(header.from).toBeNull();
  expect(dmarc.result).toBe("permerror");
  expect(scored).toMatchObject({ grade: "F", cappedBy: "no_author" });
});

const proposals = async (given: Case) => {
  const { findings } = await judge(given);
  return Object.fromEntries(
    findings.flatMap(({ id, proposal }) => (proposal ? [[id, proposal.record] as const] : [])),
  );
};

test("the report proposes the SPF record with the client's address", async () => {
  const zone = { "example.com": { MX: ["10 mx1.example.com"], TXT: ["v=spf1 mx -all"] } };

  expect((await proposals({ zone }))["SPF_FAIL"]).toEqual({
    name: "example.com",
    type: "TXT",
    value: `v=spf1 ip4:${IP} mx -all`,
  });
});

test("the report proposes no SPF record when the sender's domain belongs to another organisation", async () => {
  const zone = { "esp.test": { TXT: ["v=spf1 -all"] } };
  const { findings } = await judge({ zone, sent: { mailFrom: "b@esp.test" } });

  expect(findings.find(({ id }) => id === "SPF_FAIL")?.proposal).toBeUndefined();
});

test("the report proposes a first DMARC record, and a stricter one after p=none", async () => {
  const first = await proposals({ zone: { "_dmarc.example.com": {} } });
  const next = await proposals({
    zone: { "_dmarc.example.com": { TXT: ["v=DMARC1; p=none; rua=mailto:d@example.com"] } },
  });

  expect(first["DMARC_MISSING"]?.value).toBe("v=DMARC1; p=none; rua=mailto:dmarc@example.com");
  expect(next["DMARC_NONE"]?.value).toContain("p=quarantine");
});

test("the report proposes the name of the missing DKIM key", async () => {
  const found = await proposals({ zone: { "s1._domainkey.example.com": {} } });

  expect(found["DKIM_KEY_MISSING"]).toEqual({
    name: "s1._domainkey.example.com",
    type: "TXT",
    value: "v=DKIM1; k=rsa; p=<public key>",
  });
});

test("a mail without fault gets 100 points and no finding", async () => {
  const report = await assess(await sign(writeMail()));

  expect(report.findings).toEqual([]);
  expect(report.scored).toMatchObject({ score: 100, grade: "A", cappedBy: null });
  expect(report.openParts).toEqual([]);
  expect(report.dkim).toMatchObject([{ result: "pass", domain: "example.com", keyBits: 2048 }]);
  expect(report.spf).toMatchObject({ result: "pass", domain: "example.com", helo: "pass" });
  expect(report.dmarc).toMatchObject({ result: "pass", policy: "reject", disposition: "none" });
  expect(report.requirements.map(({ status }) => status)).toEqual(
    report.requirements.map(() => "met"),
  );
});

test("a report is JSON, and its response matches the schema's fields", async () => {
  const zone: Zone = { ...GOOD, "example.com": { TXT: ["v=spf1 -all"] } };
  for (const report of [
    await assess(await sign(writeMail())),
    await assess(writeMail({ fields: { From: null } }), zone, { tls: undefined, mailFrom: "" }),
    await assess("", {}),
  ]) {
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    const response = toMessageReport(report);
    expect(v.parse(MessageReportBody, response)).toEqual(response);
  }
});

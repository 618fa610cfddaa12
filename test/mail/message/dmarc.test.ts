import { expect, test } from "vitest";
import type { Zone } from "../../zone.ts";
import { assess, GOOD, IP, KEY, sign, writeMail } from "./mails.ts";

const HOST: Zone = {
  "mail.example.com": { TXT: [`v=spf1 ip4:${IP} -all`] },
  "s1._domainkey.mail.example.com": { TXT: [KEY.record] },
  "esp.test": { TXT: [`v=spf1 ip4:${IP} -all`] },
  "s1._domainkey.esp.test": { TXT: [KEY.record] },
  "s1._domainkey.notexample.com": { TXT: [KEY.record] },
};

/** The mail of ann@example.com, with a record, signed as `signer`, sent as b@`sender`. */
const judge = async (record: string, signer: string, sender: string, more: Zone = {}) => {
  const zone = { ...GOOD, ...HOST, "_dmarc.example.com": { TXT: [record] }, ...more };
  const raw = await sign(writeMail(), { domain: signer });
  return (await assess(raw, zone, { mailFrom: `b@${sender}` })).dmarc;
};

test.each([
  ["v=DMARC1; p=reject", "example.com", "esp.test", "pass", false, true],
  ["v=DMARC1; p=reject", "mail.example.com", "esp.test", "pass", false, true],
  ["v=DMARC1; p=reject", "esp.test", "mail.example.com", "pass", true, false],
  ["v=DMARC1; p=reject", "esp.test", "esp.test", "fail", false, false],
  ["v=DMARC1; p=reject", "notexample.com", "esp.test", "fail", false, false],
  ["v=DMARC1; p=reject; adkim=s", "mail.example.com", "esp.test", "fail", false, false],
  ["v=DMARC1; p=reject; adkim=s", "example.com", "esp.test", "pass", false, true],
  ["v=DMARC1; p=reject; aspf=s", "esp.test", "mail.example.com", "fail", false, false],
  ["v=DMARC1; p=reject; aspf=s", "esp.test", "example.com", "pass", true, false],
] as const)(
  "%s, signed by %s, sent from %s: %s",
  async (record, signer, sender, result, spf, dkim) => {
    const dmarc = await judge(record, signer, sender);

    expect([dmarc.result, dmarc.spf.isAligned, dmarc.dkim.isAligned]).toEqual([result, spf, dkim]);
    expect(dmarc.disposition).toBe(result === "fail" ? "reject" : "none");
  },
);

test("a domain below with its own organisation is not aligned", async () => {
  const own: Zone = { "_dmarc.mail.example.com": { TXT: ["v=DMARC1; p=none; psd=n"] } };

  expect((await judge("v=DMARC1; p=reject", "mail.example.com", "esp.test", own)).result).toBe(
    "fail",
  );
});

test("a policy under test is applied one step weaker", async () => {
  const dmarc = await judge("v=DMARC1; p=reject; t=y", "esp.test", "esp.test");

  expect(dmarc).toMatchObject({ result: "fail", policy: "quarantine", disposition: "quarantine" });
});

test("a record that is not answered, or an aligned signature, leaves the result open", async () => {
  const lost: Zone = { "_dmarc.example.com": "SERVFAIL" };
  const key: Zone = { "s1._domainkey.example.com": "TIMEOUT" };
  const other: Zone = { "s1._domainkey.esp.test": "TIMEOUT" };

  expect((await judge("", "example.com", "example.com", lost)).result).toBe("temperror");
  expect((await judge("v=DMARC1; p=reject", "example.com", "esp.test", key)).result).toBe(
    "temperror",
  );
  // A signature of another organisation could not have changed it.
  expect((await judge("v=DMARC1; p=reject", "esp.test", "esp.test", other)).result).toBe("fail");
});

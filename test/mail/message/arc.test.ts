import { describe, expect, test } from "vitest";
import type { Zone } from "../../app/zone.ts";
import { KEYS, signMail, stampChain } from "../../differential/signer.ts";
import { assess, GOOD, IP, KEY, sign, writeMail } from "../../things/mails.ts";

const [ARC_KEY] = KEYS;

const ZONE = {
  ...GOOD,
  "a._domainkey.arc.test": { TXT: [`v=DKIM1; k=rsa; p=${ARC_KEY?.published}`] },
};

/** A mail that passed these hosts: what each adds can be changed. */
const forward = (
  length: number,
  change: (field: string, instance: number) => readonly string[] = (field) => [field],
): string => {
  const [unsigned = "", ...bodyParts] = writeMail().split("\r\n\r\n");
  const body = bodyParts.join("\r\n\r\n");
  const chain: string[] = [];
  let header = unsigned;
  for (let instance = 1; ARC_KEY && instance <= length; instance += 1) {
    const common = Object.entries({ i: `${instance}`, a: "rsa-sha256", d: "arc.test", s: "a" });
    const results = `ARC-Authentication-Results: i=${instance}; mx.test; spf=pass`;
    const options = { key: ARC_KEY, headerWay: "simple", bodyWay: "simple" } as const;
    const signature = signMail(
      { header, body },
      { ...options, names: ["From"], tags: common, fieldName: "ARC-Message-Signature" },
    );
    const cv = instance === 1 ? "none" : "pass";
    const signed = [results, signature].flatMap((field) => change(field, instance));
    chain.push(...signed);
    const stamp = stampChain(ARC_KEY, chain, [...common, ["cv", cv]]);
    const added = change(stamp, instance);
    chain.push(...added);
    header = [...added, ...signed.toReversed(), header].join("\r\n");
  }
  return `${header}\r\n\r\n${body}`;
};

const isOf = (field: string, name: string) => field.startsWith(`${name}:`);

test.each([1, 2, 3])(
  "a chain of %i is valid, and lists the servers that forwarded the mail",
  async (n) => {
    const { arc } = await assess(forward(n), ZONE);

    expect(arc).toMatchObject({ result: "pass", reason: null });
    expect(arc.sets.map(({ instance, domain, chain }) => [instance, domain, chain])).toEqual(
      Array.from({ length: n }, (_, at) => [at + 1, "arc.test", at === 0 ? "none" : "pass"]),
    );
  },
);

test("a mail without a chain returns the result none", async () => {
  expect((await assess(writeMail())).arc).toEqual({ result: "none", reason: null, sets: [] });
});

const inArcSeal = (at: number, from: string, to: string) => (field: string, instance: number) => [
  isOf(field, "ARC-Seal") && instance === at ? field.replace(from, to) : field,
];
const without = (name: string) => (field: string) => (isOf(field, name) ? [] : [field]);

test.each([
  [
    "the ARC-Seal of an older set is changed",
    inArcSeal(1, "b=", "b=AAAA"),
    "set 1 is not valid: signature",
  ],
  ["the newest ARC-Seal is changed", inArcSeal(2, "b=", "b=AAAA"), "set 2 is not valid: signature"],
  ["a chain was found broken", inArcSeal(2, "cv=pass", "cv=fail"), "set 2 has cv=fail"],
  [
    "the first set claims others before it",
    inArcSeal(1, "cv=none", "cv=pass"),
    "set 1 has cv=pass",
  ],
  ["an ARC-Seal names fields", inArcSeal(2, "cv=", "h=from; cv="), "set 2 has h="],
  ["an ARC-Seal has no domain", inArcSeal(2, "d=arc.test;", ""), "set 2 is malformed"],
  ["an ARC-Seal is missing", without("ARC-Seal"), "has no arc-seal"],
  [
    "the results are missing",
    without("ARC-Authentication-Results"),
    "no arc-authentication-results",
  ],
  ["a number is missing", inArcSeal(2, "i=2", "i=3"), "set 2 has no arc-seal"],
  ["a field stands twice", (field: string) => [field, field], "two arc-"],
])("a chain fails when %s", async (_what, change, reason) => {
  const { arc } = await assess(forward(2, change), ZONE);

  expect(arc.result).toBe("fail");
  expect(arc.reason).toContain(reason);
});

test("a chain fails when the body changed after it", async () => {
  const { arc } = await assess(`${forward(1)}An addition.\r\n`, ZONE);

  expect(arc).toMatchObject({ result: "fail" });
  expect(arc.reason).toContain("body_hash");
});

test("a chain stays open when a key is not answered, and fails when it was broken before", async () => {
  const zone = { ...ZONE, "a._domainkey.arc.test": "TIMEOUT" as const };

  expect((await assess(forward(2), zone)).arc.result).toBe("temperror");
  const broken = forward(2, inArcSeal(2, "cv=pass", "cv=fail"));
  expect((await assess(broken, zone)).arc.result).toBe("fail");
});

describe("DMARC", () => {
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
    "the DMARC result of %s, signed by %s and sent from %s, is %s",
    async (record, signer, sender, result, spf, dkim) => {
      const dmarc = await judge(record, signer, sender);

      expect([dmarc.result, dmarc.spf.isAligned, dmarc.dkim.isAligned]).toEqual([
        result,
        spf,
        dkim,
      ]);
      expect(dmarc.disposition).toBe(result === "fail" ? "reject" : "none");
    },
  );

  test("a subdomain that is its own organisation does not align", async () => {
    const own: Zone = { "_dmarc.mail.example.com": { TXT: ["v=DMARC1; p=none; psd=n"] } };

    expect((await judge("v=DMARC1; p=reject", "mail.example.com", "esp.test", own)).result).toBe(
      "fail",
    );
  });

  test("receivers apply a policy under test one step weaker", async () => {
    const dmarc = await judge("v=DMARC1; p=reject; t=y", "esp.test", "esp.test");

    expect(dmarc).toMatchObject({
      result: "fail",
      policy: "quarantine",
      disposition: "quarantine",
    });
  });

  test("an unanswered DMARC record, or an aligned signature, leaves the result open", async () => {
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
});

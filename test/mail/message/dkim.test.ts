import { expect, test } from "vitest";
import type { Zone } from "../../app/zone.ts";
import { KEYS, signMail, stampChain } from "../../differential/signer.ts";
import { asRows } from "../../runner/as-rows.ts";
import {
  assess,
  createEd25519,
  createRsa,
  GOOD,
  IP,
  KEY,
  sign,
  writeMail,
} from "../../things/mails.ts";

// The signed examples of the RFCs, facts that any verifier can be held to.

type PublishedMail = { readonly name: string; readonly raw: string; readonly zone: Zone };

const toCrlf = (text: string): string => text.replaceAll("\n", "\r\n");

const TEXT = `
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game. Are you hungry yet?

Joe.
`;

const PUBLISHED_MAILS: readonly PublishedMail[] = [
  {
    name: "RFC 8463 A.3, with an Ed25519 and an RSA signature",
    raw: toCrlf(
      `DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=test; t=1528637909; h=from : to : subject :
 date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=F45dVWDfMbQDGHJFlXUNB2HKfbCeLRyhDXgFpEL8GwpsRe0IeIixNTe3
 DhCVlUrSjV4BwcVcOF6+FF3Zo9Rpo1tFOeS9mPYQTnGdaSGsgeefOsk2Jz
 dA+L10TeYt9BgDfQNZtKdN1WO//KgIqXP7OdEFE4LjFYNcUxZQ4FADY+8=${TEXT}`,
    ),
    zone: {
      "brisbane._domainkey.football.example.com": {
        TXT: ["v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="],
      },
      "test._domainkey.football.example.com": {
        TXT: [
          "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHlOQoBTzWRiGs5V6NpP3idY6Wk08a5qhdR6wy5bdOKb2jLQiY/J16JYi0Qvx/byYzCNb3W91y3FutACDfzwQ/BC/e/8uBsCR+yz1Lxj+PL6lHvqMKrM3rG4hstT5QjvHO9PzoxZyVYLzBfO2EeC3Ip3G+2kryOTIKT+l/K4w3QIDAQAB",
        ],
      },
    },
  },
  {
    name: "RFC 6376 A.2, simple/simple",
    raw: toCrlf(
      `DKIM-Signature: v=1; a=rsa-sha256; s=brisbane; d=example.com;
      c=simple/simple; q=dns/txt; i=joe@football.example.com;
      h=Received : From : To : Subject : Date : Message-ID;
      bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
      b=AuUoFEfDxTDkHlLXSZEpZj79LICEps6eda7W3deTVFOk4yAUoqOB
      4nujc7YopdG5dWLSdNg6xNAZpOPr+kHxt1IrE+NahM6L/LbvaHut
      KVdkLLkpVaVVQPzeRDI009SO2Il5Lu7rDNH6mZckBdrIx0orEtZV
      4bmp/YzhwvcubU4=;
Received: from client1.football.example.com  [192.0.2.1]
      by submitserver.example.com with SUBMISSION;
      Fri, 11 Jul 2003 21:01:54 -0700 (PDT)${TEXT}`,
    ),
    zone: {
      "brisbane._domainkey.example.com": {
        TXT: [
          "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckcQ2QIDAQAB",
        ],
      },
    },
  },
];

const ED25519 = createEd25519();
const SHORT = createRsa(512);
const WEAK = createRsa(1024);

test.each(PUBLISHED_MAILS)("all signatures of $name are valid", async ({ raw, zone }) => {
  const { dkim } = await assess(raw, zone);

  expect(dkim.length).toBeGreaterThan(0);
  expect(dkim.map(({ result }) => result)).toEqual(dkim.map(() => "pass"));
});

test.each(PUBLISHED_MAILS)(
  "no signature of $name is valid with another body",
  async ({ raw, zone }) => {
    const { dkim } = await assess(raw.replace("hungry", "hungri"), zone);

    expect(dkim.map(({ reason }) => reason)).toEqual(dkim.map(() => "body_hash"));
  },
);

const KEY_NAME = "s1._domainkey.example.com";

test.each([
  ["no record", {}, "neutral", "key_missing"],
  ["a revoked key", { TXT: ["v=DKIM1; p="] }, "neutral", "key_revoked"],
  ["name servers that fail", "SERVFAIL", "temperror", "dns"],
  ["name servers without an answer", "TIMEOUT", "temperror", "dns"],
  ["a key that is not its own", { TXT: [createRsa(2048).record] }, "fail", "signature"],
  ["a key of another kind", { TXT: [ED25519.record] }, "neutral", "key_type"],
  ["a key below 1024 bits", { TXT: [SHORT.record] }, "policy", "key_short"],
  ["a key for another service", { TXT: [`${KEY.record}; s=chat`] }, "neutral", "key_service"],
  ["a key for sha1 alone", { TXT: [`${KEY.record}; h=sha1`] }, "neutral", "key_hash"],
  ["a key that is none", { TXT: ["v=DKIM1; p=AAAA"] }, "neutral", "key_syntax"],
] as const)(
  "the signature's result follows from the key's record: %s",
  async (_what, at, result, reason) => {
    const { dkim } = await assess(await sign(writeMail()), { ...GOOD, [KEY_NAME]: at });

    expect(dkim).toMatchObject([{ result, reason }]);
  },
);

test("a DNS query without an answer costs no points, and the score omits its part", async () => {
  const zone = { ...GOOD, [KEY_NAME]: "SERVFAIL" as const };
  const { openParts, findings, scored, dmarc } = await assess(await sign(writeMail()), zone);

  expect(openParts).toEqual(["dkim"]);
  // SPF is aligned, so DMARC passes all the same.
  expect(dmarc.result).toBe("pass");
  expect(findings.map(({ id }) => id)).toContain("DKIM_UNANSWERED");
  expect(scored.score).toBe(100);
  expect(scored.parts.map(({ part }) => part)).not.toContain("dkim");
});

test("an Ed25519 signature is valid, and alone causes advice for an RSA signature", async () => {
  const mail = await sign(writeMail(), { key: ED25519 });
  const { dkim, findings } = await assess(mail, { ...GOOD, [KEY_NAME]: { TXT: [ED25519.record] } });

  expect(dkim).toMatchObject([{ result: "pass", algorithm: "ed25519-sha256", keyBits: null }]);
  expect(findings.map(({ id }) => id)).toEqual(["DKIM_ED25519_ONLY"]);
});

test("the report shows text beyond the length that a signature covers", async () => {
  const mail = await sign(writeMail(), { maxBodyLength: 10 });
  const { dkim, findings } = await assess(`${mail}An addition.\r\n`);

  expect(dkim).toMatchObject([{ result: "pass" }]);
  expect(dkim[0]?.unsignedBytes).toBeGreaterThan(60);
  expect(findings).toMatchObject([{ id: "DKIM_LENGTH", severity: "high" }]);
});

test("an expired signature is not valid", async () => {
  const expires = new Date("2026-11-23T11:59:30.000Z");
  const { dkim } = await assess(await sign(writeMail(), { expires }));

  expect(dkim).toMatchObject([{ result: "neutral", reason: "expired" }]);
});

test("a broken signature beside a valid one costs few points", async () => {
  const other = await sign(await sign(writeMail()), { selector: "s2", key: WEAK });
  const zone = { ...GOOD, "s2._domainkey.example.com": { TXT: [createRsa(1024).record] } };
  const { dkim, scored, findings, requirements } = await assess(other, zone);

  expect(dkim.map(({ result }) => result)).toEqual(["fail", "pass"]);
  expect(findings).toMatchObject([{ id: "DKIM_SIGNATURE", severity: "low", costPoints: 10 }]);
  expect(scored.score).toBe(98);
  expect(requirements.find(({ id }) => id === "dkim")?.status).toBe("met");
});

test("a field added above a signed field breaks the signature when h= repeats its name", async () => {
  const [header = "", ...body] = writeMail().split("\r\n\r\n");
  const [key] = KEYS;
  const signWith = (names: readonly string[]) => {
    const tags = Object.entries({ v: "1", a: "rsa-sha256", d: "example.com", s: "s1" });
    const mail = { header, body: body.join("\r\n\r\n") };
    return key && signMail(mail, { key, headerWay: "simple", bodyWay: "simple", names, tags });
  };
  const zone = { ...GOOD, [KEY_NAME]: { TXT: [`v=DKIM1; p=${key?.published}`] } };
  const judge = async (names: readonly string[]) => {
    const raw = `Subject: You have won\r\n${signWith(names)}\r\n${writeMail()}`;
    return (await assess(raw, zone)).dkim.map(({ reason }) => reason);
  };

  expect(await judge(["From", "Subject"])).toEqual([null]);
  expect(await judge(["From", "Subject", "Subject"])).toEqual(["signature"]);
});

test("the check looks up ten signatures, and reports the first further one as not checked", async () => {
  let mail = writeMail();
  for (let n = 0; n < 12; n += 1) mail = await sign(mail, { selector: `k${n}` });
  const { dkim } = await assess(mail);

  expect(dkim).toHaveLength(11);
  expect(dkim.filter(({ reason }) => reason === "not_checked")).toHaveLength(1);
});

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

test("the verifier returns the result none for a mail without an ARC chain", async () => {
  expect((await assess(writeMail())).arc).toEqual({ result: "none", reason: null, sets: [] });
});

const inArcSeal = (at: number, from: string, to: string) => (field: string, instance: number) => [
  isOf(field, "ARC-Seal") && instance === at ? field.replace(from, to) : field,
];
const without = (name: string) => (field: string) => (isOf(field, name) ? [] : [field]);

test.each(asRows`
  the ARC-Seal of an older set is changed | ${inArcSeal(1, "b=", "b=AAAA")} | set 1 is not valid: signature
  the newest ARC-Seal is changed | ${inArcSeal(2, "b=", "b=AAAA")} | set 2 is not valid: signature
  a chain was found broken | ${inArcSeal(2, "cv=pass", "cv=fail")} | set 2 has cv=fail
  the first set claims others before it | ${inArcSeal(1, "cv=none", "cv=pass")} | set 1 has cv=pass
  an ARC-Seal names fields | ${inArcSeal(2, "cv=", "h=from; cv=")} | set 2 has h=
  an ARC-Seal has no domain | ${inArcSeal(2, "d=arc.test;", "")} | set 2 is malformed
  an ARC-Seal is missing | ${without("ARC-Seal")} | has no arc-seal
  the results are missing | ${without("ARC-Authentication-Results")} | no arc-authentication-results
  a number is missing | ${inArcSeal(2, "i=2", "i=3")} | set 2 has no arc-seal
  a field stands twice | ${(field: string) => [field, field]} | two arc-
`)("a chain fails when %s", async (_what, change, reason) => {
  const { arc } = await assess(forward(2, change), ZONE);

  expect(arc.result).toBe("fail");
  expect(arc.reason).toContain(reason);
});

test("an ARC chain fails when the body changed after the seal", async () => {
  const { arc } = await assess(`${forward(1)}An addition.\r\n`, ZONE);

  expect(arc).toMatchObject({ result: "fail" });
  expect(arc.reason).toContain("body_hash");
});

test("an ARC chain gets temperror when a key query times out, and fails when an earlier seal failed", async () => {
  const zone = { ...ZONE, "a._domainkey.arc.test": "TIMEOUT" as const };

  expect((await assess(forward(2), zone)).arc.result).toBe("temperror");
  const broken = forward(2, inArcSeal(2, "cv=pass", "cv=fail"));
  expect((await assess(broken, zone)).arc.result).toBe("fail");
});

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

    expect([dmarc.result, dmarc.spf.isAligned, dmarc.dkim.isAligned]).toEqual([result, spf, dkim]);
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

import { describe, expect, test } from "vitest";
import type { Zone } from "../../app/zone.ts";
import { KEYS, signMail } from "../../differential/signer.ts";
import {
  assess,
  createEd25519,
  createRsa,
  GOOD,
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

describe("the record of a key", () => {
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
});

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

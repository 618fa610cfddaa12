import { createListHealth } from "@mailproof/mail/blocklists/health";
import { assessMessage } from "@mailproof/mail/message/assess";
import type { DkimResult } from "@mailproof/mail/message/dkim/verify";
import { readMessage } from "@mailproof/mail/message/read-message";
import fc from "fast-check";
import { authenticate, type DNSResolver } from "mailauth";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { createResolver } from "./resolver.ts";
import {
  getBodyLength,
  KEYS,
  type SignatureTags,
  type SigningKey,
  signMail,
  stampChain,
  type Way,
} from "./signer.ts";

// Goal: what we find of a mail's DKIM, ARC, SPF and DMARC is what mailauth finds, written by others.
// Method: mails are drawn by a seed and signed by a signer of the test's own, with odd header shapes, bodies, tags, keys
// and key records; a part is damaged after signing, and a part of DNS does not answer. mailauth judges strictly, by the
// RFCs. Every difference is explained by a row.

const SEED = 20_261_123;

const NOW = new Date("2026-11-23T12:00:00.000Z");
const IP = "8.8.8.10";

const pick = fc.constantFrom;

/** Mostly the first. */
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 4, arbitrary: pick(usual, ...others) },
  );

const LONG = "x".repeat(2_000);

const header = fc
  .tuple(
    mostly(
      ["From: Ann <ann@example.com>"],
      ["from : ann@example.com (work)"],
      ["FROM:\r\n\tAnn\r\n  <ann@Example.COM>"],
      ["From: ann@mail.example.com"],
      ["From: ann@other.test"],
      ["From: Ann <ann@example.com>, bob@example.com"],
      ["From: ann@example.com, bob@other.test"],
      ["From: Ann <ann@example.com>", "From: Eve <eve@other.test>"],
      [],
    ),
    mostly(["To: bob@example.net"], ["to:bob@example.net"], ["To: \t bob@example.net \t "], []),
    mostly(
      ["Subject: Hello"],
      ["Subject:"],
      ["Subject: a  b\t\tc   "],
      ["SUBJECT : \xe9\xff 8-bit"],
      [`Subject: ${LONG}`],
      ["Subject: one", "Subject: two"],
      ["Subject: a\r\n \r\n b"],
    ),
    mostly(["Date: Mon, 23 Nov 2026 11:59:00 +0000"], []),
    mostly(
      [],
      ["Received: from a by b", "Received: from b\r\n\tby c", "Received: c"],
      ["X-Odd:: a:b;c=d"],
    ),
  )
  .chain((fields) => fc.shuffledSubarray(fields, { minLength: fields.length }))
  .map((fields) => fields.flat());

const line = fc.oneof(
  {
    weight: 3,
    arbitrary: pick("Hello", "a b  c\td", "", "", " ", "\t", ".", "..x", "trailing  ", " lead"),
  },
  { weight: 1, arbitrary: pick("\xe9\xff\x80", LONG, "a\rb", "--", "b=x; bh=y") },
);
const body = fc
  .tuple(fc.array(line, { maxLength: 6 }), mostly("\r\n", "", "\r\n\r\n\r\n", " \r\n\t\r\n", "\n"))
  .map(([lines, end]) => lines.join("\r\n") + end);

const NAMES: readonly (readonly string[])[] = [
  ["From", "To", "Subject", "Date"],
  ["from", "from", "subject", "subject", "to"],
  ["FROM", "Received", "Received"],
  ["From", "Received", "X-Missing", "X-Odd", "Subject"],
  ["Subject", "To"],
];

const key = fc.oneof(
  { weight: 5, arbitrary: pick(KEYS[0], KEYS[1]) },
  { weight: 3, arbitrary: pick(...KEYS) },
) as fc.Arbitrary<SigningKey>;

/** How a key is published. */
const RECORDS: Readonly<Record<string, (key: SigningKey) => Zone[string]>> = {
  plain: ({ kind, published }) => ({ TXT: [`v=DKIM1; k=${kind}; p=${published}`] }),
  "without v": ({ kind, published }) => ({ TXT: [`k=${kind};p=${published};`] }),
  "without k": ({ published }) => ({ TXT: [`v=DKIM1; p=${published}`] }),
  "spaces in p": ({ kind, published }) => ({
    TXT: [`v=DKIM1; k=${kind}; p=${published.replaceAll(/(.{20})/g, "$1 ")}`],
  }),
  "more tags": ({ kind, published }) => ({
    TXT: [`v=DKIM1; g=*; h=sha1:sha256; s=email:other; n=a note; k=${kind}; t=x; p=${published}`],
  }),
  testing: ({ kind, published }) => ({ TXT: [`v=DKIM1; k=${kind}; t=y; p=${published}`] }),
  strict: ({ kind, published }) => ({ TXT: [`v=DKIM1; k=${kind}; t=y:s; p=${published}`] }),
  "sha1 only": ({ kind, published }) => ({ TXT: [`v=DKIM1; k=${kind}; h=sha1; p=${published}`] }),
  "other service": ({ kind, published }) => ({
    TXT: [`v=DKIM1; k=${kind}; s=chat; p=${published}`],
  }),
  revoked: ({ kind }) => ({ TXT: [`v=DKIM1; k=${kind}; p=`] }),
  "no p": ({ kind }) => ({ TXT: [`v=DKIM1; k=${kind}`] }),
  "other version": ({ kind, published }) => ({ TXT: [`v=DKIM2; k=${kind}; p=${published}`] }),
  "late version": ({ kind, published }) => ({ TXT: [`k=${kind}; v=DKIM1; p=${published}`] }),
  "other kind": ({ kind, published }) => ({
    TXT: [`v=DKIM1; k=${kind === "rsa" ? "ed25519" : "rsa"}; p=${published}`],
  }),
  "other key": ({ kind }) => ({
    TXT: [`v=DKIM1; k=${kind}; p=${(kind === "rsa" ? KEYS[5] : KEYS[1])?.published}`],
  }),
  "no base64": () => ({ TXT: ["v=DKIM1; k=rsa; p=!!!"] }),
  "twice p": ({ kind, published }) => ({
    TXT: [`v=DKIM1; k=${kind}; p=${published}; p=${published}`],
  }),
  "no key": () => ({ TXT: ["v=spf1 -all"] }),
  "a text before it": ({ kind, published }) => ({
    TXT: ["hello", `v=DKIM1; k=${kind}; p=${published}`],
  }),
  absent: () => ({}),
  servfail: () => "SERVFAIL",
  timeout: () => "TIMEOUT",
};
const record = fc.oneof(
  { weight: 6, arbitrary: fc.constant("plain") },
  { weight: 4, arbitrary: pick(...Object.keys(RECORDS)) },
);

/** Tags that replace the usual ones, or stand beside them; undefined takes a tag out. */
type TagChange = Readonly<Record<string, string | undefined>>;
const change = mostly<TagChange>(
  {},
  { v: "2" },
  { v: undefined },
  { v: " 1 " },
  { a: "rsa-sha512" },
  { a: "rsa-sha1" },
  { c: "simple/funny" },
  { q: "dns/txt" },
  { q: "http:dns/txt" },
  { q: "http" },
  { i: "@example.com" },
  { i: "ann@mail.example.com" },
  { i: "=41nn@example.com" },
  { i: "ann@other.test" },
  { i: "nothing" },
  { t: "1700000000" },
  { t: "4000000000" },
  { t: "1700000000", x: "4200000000" },
  { t: "1700000000", x: "1700000100" },
  { t: "1700000000", x: "1700000000" },
  { t: "yesterday" },
  { z: "Subject:b=3D;=20x|From:a" },
  { n0te: "b=y", _x: "1" },
  { d: undefined },
  { s: undefined },
  { D: "other.test" },
  { d: "com" },
  { d: "mail.example.com" },
  { d: "other.test" },
  { s: "a.b" },
  { "": "x" },
);

const signature = fc.record({
  key,
  record,
  change,
  way: mostly<readonly [Way, Way, string | undefined]>(
    ["relaxed", "relaxed", "relaxed/relaxed"],
    ["simple", "simple", "simple/simple"],
    ["simple", "simple", undefined],
    ["relaxed", "simple", "relaxed"],
    ["simple", "relaxed", "simple/relaxed"],
    ["relaxed", "simple", "Relaxed/Simple"],
  ),
  names: fc.oneof(
    { weight: 4, arbitrary: fc.constant(NAMES[0]) },
    { weight: 4, arbitrary: pick(...NAMES) },
  ) as fc.Arbitrary<readonly string[]>,
  limit: mostly<"none" | "zero" | "half" | "all" | "more">("none", "zero", "half", "all", "more"),
  separator: mostly(";\r\n\t", "; ", ";", " ;\r\n  ", ";;", ";\t"),
});
type DrawnSignature = typeof signature extends fc.Arbitrary<infer T> ? T : never;

const damage = mostly<(mail: string) => string>(
  (mail) => mail,
  (mail) => `${mail}x`,
  (mail) => `${mail}\r\n\r\n`,
  (mail) => mail.replace("Hello", "Hullo"),
  (mail) => `Subject: added\r\n${mail}`,
  (mail) => `From: eve@other.test\r\n${mail}`,
  (mail) => `${mail.replace(/\r\n\r\n/, "\r\nX-Last: 1\r\n\r\n")}`,
  (mail) => mail.replaceAll("\r\n\t", "\r\n "),
  (mail) => mail.replace("b=", "b=A"),
);

type SetFault = "none" | "cv" | "instance" | "twice" | "field" | "key" | "body" | "lost";
const chain = fc.record({
  length: pick(0, 0, 0, 1, 2, 3),
  key: pick(KEYS[0], KEYS[1], KEYS[2]) as fc.Arbitrary<SigningKey>,
  fault: mostly<SetFault>("none", "cv", "instance", "twice", "field", "key", "body", "lost"),
});
type DrawnChain = typeof chain extends fc.Arbitrary<infer T> ? T : never;

const cases = fc.record({
  header,
  body,
  signatures: fc.array(signature, { minLength: 1, maxLength: 3 }),
  damage,
  chain,
  spf: mostly(`v=spf1 ip4:${IP} -all`, "v=spf1 -all", "v=spf1 ~all", "nothing", "v=spf1 foo"),
  dmarc: mostly(
    "v=DMARC1; p=reject",
    "v=DMARC1; p=none",
    "v=DMARC1; p=quarantine; aspf=s; adkim=s",
    "v=DMARC1; p=reject; t=y",
    "hello",
  ),
  sender: mostly("a@example.com", "a@mail.example.com", "a@other.test", ""),
});
type Drawn = typeof cases extends fc.Arbitrary<infer T> ? T : never;

const LIMITS: Readonly<Record<DrawnSignature["limit"], (length: number) => number | undefined>> = {
  none: () => undefined,
  zero: () => 0,
  half: (length) => Math.floor(length / 2),
  all: (length) => length,
  more: (length) => length + 7,
};

/** The tags and the zone of one signature. */
const toTags = (drawn: DrawnSignature, index: number, limit: number | undefined): SignatureTags => {
  const usual: TagChange = {
    v: "1",
    a: `${drawn.key.kind}-sha256`,
    c: drawn.way[2],
    d: "example.com",
    s: `s${index}`,
    l: limit === undefined ? undefined : String(limit),
  };
  return Object.entries({ ...usual, ...drawn.change }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
};

const findTag = (tags: SignatureTags, name: string): string | undefined =>
  tags.find(([one]) => one === name)?.[1];

const addChain = (
  mail: { header: string; body: string },
  { length, key: own, fault }: DrawnChain,
) => {
  let { header: top } = mail;
  const fields: string[] = [];
  for (let instance = 1; instance <= length; instance += 1) {
    const isLast = instance === length;
    const number = isLast && fault === "instance" ? instance + 1 : instance;
    const results = `ARC-Authentication-Results: i=${number}; mx${instance}.test; spf=pass`;
    const message = signMail(
      { ...mail, header: top },
      {
        key: own,
        headerWay: "relaxed",
        bodyWay: "relaxed",
        names: ["From", "Subject", "DKIM-Signature"],
        tags: [
          ["i", String(number)],
          ["a", `${own.kind}-sha256`],
          ["c", "relaxed/relaxed"],
          ["d", "arc.test"],
          ["s", "a"],
        ],
        fieldName: "ARC-Message-Signature",
      },
    );
    fields.push(results, message);
    const cv = instance === 1 ? "none" : isLast && fault === "cv" ? "fail" : "pass";
    const stamp = stampChain(own, fields, [
      ["i", String(number)],
      ["a", `${own.kind}-sha256`],
      ["t", "1700000000"],
      ["cv", cv],
      ["d", "arc.test"],
      ["s", isLast && fault === "lost" ? "lost" : "a"],
    ]);
    fields.push(stamp);
    const twice = isLast && fault === "twice" ? [results] : [];
    const set = isLast && fault === "field" ? [stamp, results] : [stamp, message, results];
    top = [...twice, ...set, top].join("\r\n");
  }
  const isBroken = length > 0 && fault === "body";
  return { header: top, body: isBroken ? `${mail.body}broken` : mail.body };
};

type Made = { readonly raw: Buffer; readonly zone: Zone; readonly tags: readonly SignatureTags[] };

const make = (drawn: Drawn): Made => {
  const { body: text, signatures } = drawn;
  const unsigned = drawn.header.join("\r\n");
  const made = signatures.map((one, index) => {
    const limit = LIMITS[one.limit](getBodyLength(text, one.way[1]));
    const tags = toTags(one, index, limit);
    const field = signMail(
      { header: unsigned, body: text },
      { ...one, headerWay: one.way[0], bodyWay: one.way[1], tags, limit },
    );
    return { field, tags, at: RECORDS[one.record]?.(one.key) ?? {} };
  });
  const header = [...made.map(({ field }) => field), unsigned].join("\r\n");
  const mail = addChain({ header, body: text }, drawn.chain);
  const raw = drawn.damage(`${mail.header}\r\n\r\n${mail.body}`);
  const keys = made.map(({ tags, at }) => {
    const domain = findTag(tags, "d") ?? "example.com";
    return [`${findTag(tags, "s") ?? "none"}._domainkey.${domain}`, at] as const;
  });
  const arcKey = drawn.chain.fault === "key" ? KEYS[5] : drawn.chain.key;
  const zone: Zone = {
    "example.com": { TXT: [drawn.spf], MX: ["10 mx.example.com"] },
    "mail.example.com": { TXT: [drawn.spf] },
    "other.test": { TXT: [drawn.spf] },
    "out.example.com": { TXT: [drawn.spf] },
    "_dmarc.example.com": { TXT: [drawn.dmarc] },
    "a._domainkey.arc.test": { TXT: [`v=DKIM1; k=${arcKey?.kind}; p=${arcKey?.published}`] },
    "lost._domainkey.arc.test": "SERVFAIL",
    ...Object.fromEntries(keys),
  };
  return { raw: Buffer.from(raw, "latin1"), zone, tags: made.map(({ tags }) => tags) };
};

type Judged = {
  readonly dkim: readonly string[];
  readonly arc: string;
  readonly spf: string;
  readonly dmarc: string;
};

const ours = async ({ raw, zone }: Made, sender: string) => {
  const dns = createZoneDns(zone);
  const blocklists = { listsFor: () => [], keys: {}, isHealthy: createListHealth(() => NOW) };
  return assessMessage(
    {
      now: () => NOW,
      sleep: () => new Promise<void>(() => {}),
      names: { dns, listDns: dns, dkimSelectors: [], allowed: [], blocklists },
    },
    { mailFrom: sender, helo: "out.example.com", ip: IP, receivedAt: NOW },
    readMessage(raw),
  );
};

type Report = Awaited<ReturnType<typeof ours>>;

const summarize = ({ dkim, arc, spf, dmarc }: Report): Judged => ({
  dkim: dkim.map(({ result }) => result),
  arc: arc.result,
  spf: spf?.result ?? "",
  dmarc: dmarc.result === "fail" ? `fail ${dmarc.disposition}` : dmarc.result,
});

const theirs = async ({ raw, zone }: Made, sender: string): Promise<Judged> => {
  const resolver = createResolver(createZoneDns(zone)) as DNSResolver;
  const found = await authenticate(raw, {
    ip: IP,
    helo: "out.example.com",
    sender,
    mta: "mx.test",
    resolver,
    disableBimi: true,
    strict: true,
  });
  const { dmarc } = found;
  const policy = dmarc && dmarc.status.result === "fail" ? ` ${dmarc.policy}` : "";
  return {
    dkim: found.dkim.results.map(({ status }) => status.result),
    arc: found.arc ? found.arc.status.result : "none",
    spf: found.spf ? found.spf.status.result : "",
    dmarc: dmarc ? dmarc.status.result + policy : "permerror",
  };
};

/** A difference that is known: why it stays. */
type ExplainedDifference = {
  readonly why: string;
  readonly holds: (
    one: Pick<DkimResult, "result" | "reason">,
    other: string,
    drawn: DrawnSignature,
  ) => boolean;
};

const EXPLAINED: readonly ExplainedDifference[] = [
  {
    why: "RFC 8301 §3.1: rsa-sha1 must not be used for verifying. Ours does not even hash; mailauth compares the body first, and may say fail.",
    holds: ({ reason }, other) => reason === "weak_algorithm" && other !== "pass",
  },
  {
    why: "RFC 6376 §3.5: l= must not be greater than the body. mailauth compares the hash all the same.",
    holds: ({ reason }) => reason === "body_length",
  },
  {
    why: "RFC 6376 §3.6.2.2: several records at one name have no defined result. Ours looks for the key among them, mailauth takes the first.",
    holds: (_one, other, { record: at }) => at === "a text before it" && other === "neutral",
  },
];

const ARC_LOST =
  "RFC 8617 knows no temporary failure of a chain, and mailauth says fail. A failed query says nothing about a sender, so ours says temperror.";

const DMARC_LOST =
  "mailauth says that DMARC fails when the one aligned signature could not be looked up. It may be valid, so ours says temperror.";

/** Draws this many mails and compares what is found. The result counts what was met. */
const compareMessages = async (numRuns: number): Promise<ReadonlyMap<string, number>> => {
  const met = new Map<string, number>();
  const meet = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(cases, async (drawn) => {
      const made = make(drawn);
      const report = await ours(made, drawn.sender);
      const [one, other] = [summarize(report), await theirs(made, drawn.sender)];
      const text = made.raw.toString("latin1");
      const dkim = one.dkim.map((result, index) => {
        const their = other.dkim[index] ?? "none";
        const [found, spec] = [report.dkim[index], drawn.signatures[index]];
        meet(`dkim ${result}`);
        if (result === their || !found || !spec) return result;
        const explained = EXPLAINED.find(({ holds }) => holds(found, their, spec));
        if (explained) meet(explained.why);
        return explained ? their : result;
      });
      expect({ dkim, text }).toEqual({ dkim: other.dkim, text });
      meet(`arc ${one.arc}`);
      if (one.arc === "temperror" && other.arc === "fail") meet(ARC_LOST);
      else expect({ arc: one.arc, text }).toEqual({ arc: other.arc, text });
      meet(`spf ${one.spf}`);
      expect(one.spf).toBe(other.spf);
      meet(`dmarc ${one.dmarc}`);
      const isLost = one.spf === "temperror" || one.dkim.includes("temperror");
      if (one.dmarc === "temperror" && other.dmarc.startsWith("fail") && isLost) meet(DMARC_LOST);
      // DMARC follows from the others: where they differ, it may.
      else if (dkim.every((result, index) => result === one.dkim[index]))
        expect({ dmarc: one.dmarc, text }).toEqual({ dmarc: other.dmarc, text });
    }),
    { seed: SEED, numRuns },
  );
  return met;
};

/** What must be met often, else the mails are too tame to compare anything. */
const TO_MEET: readonly string[] = [
  "dkim pass",
  "dkim fail",
  "dkim neutral",
  "dkim policy",
  "dkim temperror",
  "arc none",
  "arc pass",
  "arc fail",
  "arc temperror",
  "spf pass",
  "spf fail",
  "spf softfail",
  "spf none",
  "spf permerror",
  "dmarc pass",
  "dmarc fail reject",
  "dmarc none",
  "dmarc permerror",
  ...EXPLAINED.map(({ why }) => why),
  ARC_LOST,
  DMARC_LOST,
];

test("the service judges 1,000 mails as mailauth does, and meets every known difference", async () => {
  const met = await compareMessages(1_000);

  const seldom = TO_MEET.filter((what) => (met.get(what) ?? 0) < 5);
  expect(seldom).toEqual([]);
}, 900_000);

import { parseMailboxes } from "@mailproof/mail/message/parse/addresses";
import { decodeFieldText } from "@mailproof/mail/message/parse/encodings";
import { parseMessage } from "@mailproof/mail/message/parse/message";
import { parseParameters } from "@mailproof/mail/message/parse/parts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createZoneDns, type Zone } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import { assess, GOOD, LIST, sign, writeMail } from "../../things/mails.ts";

const parse = (text: string) => parseMessage(Buffer.from(text, "latin1"));
const textsOf = (text: string) => parse(text).tree.parts.map((part) => part.text);

test("a folded line belongs to the field above it", () => {
  const { fields, body } = parse("Subject: a\r\n\tb\r\nTo : c\r\n\r\nbody");

  expect(fields).toEqual([
    { key: "subject", raw: "Subject: a\r\n\tb" },
    { key: "to", raw: "To : c" },
  ]);
  expect(body.toString()).toBe("body");
});

test("a line that is no field counts as a fault, and joins the field above", () => {
  expect(parse("Subject: a\r\nnonsense\r\nTo: b\r\n\r\n")).toMatchObject({
    strayLines: 1,
    fields: [{ raw: "Subject: a\r\nnonsense" }, { raw: "To: b" }],
  });
});

test("bare line feeds end lines, and the parser counts them", () => {
  const { bareLineFeeds, fields, body } = parse("A: 1\nB: 2\r\n\nbo\ndy\r");

  expect(bareLineFeeds).toBe(3);
  expect(fields.map(({ key }) => key)).toEqual(["a", "b"]);
  expect(body.toString()).toBe("bo\r\ndy\r");
});

test("an empty first line ends a header section without a field", () => {
  expect(parse("\r\nFrom: a@b.c\r\n\r\nx")).toMatchObject({ fields: [] });
});

test.each([
  ["=?utf-8?q?caf=C3=A9_au_lait?=", "café au lait"],
  ["=?UTF-8?B?Y2Fmw6k=?= and =?iso-8859-1?Q?caf=E9?=", "café and café"],
  ["=?utf-8?b?Y2Fmww==?= =?utf-8?b?qQ==?=", "café"],
  ["=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", "café"],
  ["=?nonsense?q?x?=", "\ufffd"],
  ["plain =?broken", "plain =?broken"],
  ["caf\xc3\xa9", "café"],
  ["caf\xe9", "café"],
])("the parser shows %s as %s", (value, shown) => {
  expect(decodeFieldText(value)).toBe(shown);
});

test.each(asRows`
  Ann Lee <ann@example.com> | ${[["Ann Lee", "ann@example.com"]]}
  ann@example.com (Ann, at home) | ${[["", "ann@example.com"]]}
  "Lee, Ann" <ann@example.com>, b@c.d | ${[['"Lee, Ann"', "ann@example.com"], ["", "b@c.d"]]}
  friends: a@b.c, Dan <d@e.f>; | ${[["", "a@b.c"], ["Dan", "d@e.f"]]}
  "a@b.c" <d@e.f> | ${[['"a@b.c"', "d@e.f"]]}
  <@relay.test:ann@example.com> | ${[["", "ann@example.com"]]}
  ${""} | []
  , , | []
`)("the parser reads from %s the addresses %j", (value, expected) => {
  expect(parseMailboxes(value).map(({ name, address }) => [name, address])).toEqual(expected);
});

test.each(asRows`
  text/html; charset="utf-8"; x=1 | text/html | ${{ charset: "utf-8", x: "1" }}
  ${'Multipart/Mixed; boundary="a;b\\"c"'} | multipart/mixed | ${{ boundary: 'a;b"c' }}
  attachment; filename*0="long "; filename*1=name.pdf | attachment | ${{ filename: "long name.pdf" }}
  text/plain (a; comment); charset=x | text/plain | ${{ charset: "x" }}
  ${""} | ${""} | ${{}}
`)("the parser reads %s as %s with %j", (text, value, parameters) => {
  const parsed = parseParameters(text);

  expect([parsed.value, Object.fromEntries(parsed.parameters)]).toEqual([value, parameters]);
});

const MIXED = `Content-Type: multipart/mixed; boundary=o

preamble
--o
Content-Type: multipart/alternative; boundary="i i"

--i i
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

caf=E9 =
au lait
--i i
Content-Type: text/html
Content-Transfer-Encoding: base64

PGI+Y2Fmw6k8L2I+
--i i--
--o
Content-Type: text/plain; name=a.txt
Content-Disposition: attachment; filename=a.txt

attached
--o--
epilogue`;

test("the parser reads parts with their encodings and character sets", () => {
  const { parts } = parse(MIXED).tree;

  expect(parts.map(({ depth, type, isAttachment }) => [depth, type, isAttachment])).toEqual([
    [0, "multipart/mixed", false],
    [1, "multipart/alternative", false],
    [2, "text/plain", false],
    [2, "text/html", false],
    [1, "text/plain", true],
  ]);
  expect(textsOf(MIXED)).toEqual([null, null, "café au lait", "<b>café</b>", null]);
  expect(parts.at(-1)).toMatchObject({ filename: "a.txt", bytes: 8 });
});

test("a multipart without its boundary is broken, and one without its end is valid", () => {
  const open = "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n\r\ntext";

  expect(parse(open).tree.parts.map(({ isBroken }) => isBroken)).toEqual([false, false]);
  expect(textsOf(open).at(-1)).toBe("text");
  expect(parse("Content-Type: multipart/mixed\r\n\r\nx").tree.parts).toMatchObject([
    { isBroken: true },
  ]);
});

test("the parser does not confuse a boundary with a longer one that begins alike", () => {
  const text =
    "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n\r\none\r\n--other\r\n--o--";

  expect(textsOf(text).at(-1)).toBe("one\r\n--other");
});

test("the parser reads parts ten levels deep, and at most two hundred", () => {
  const nested = "Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n".repeat(30);
  const many = `Content-Type: multipart/mixed; boundary=o\r\n\r\n${"--o\r\n\r\nx\r\n".repeat(500)}`;

  expect(parse(many).tree).toMatchObject({ isCut: true });
  expect(parse(many).tree.parts).toHaveLength(200);
  expect(Math.max(...parse(nested).tree.parts.map(({ depth }) => depth))).toBeLessThan(11);
});

test("the parser reads no text from a part in an unknown character set", () => {
  expect(textsOf("Content-Type: text/plain; charset=klingon\r\n\r\nx")).toEqual([null]);
});

// Goal: no bytes, and nothing that DNS has, make a report fail or cost without bound.

const RUNS = { seed: 20_261_124, numRuns: 300 };

const piece = fc.oneof(
  fc.constantFrom(
    "From: ",
    "a@b.c",
    "<",
    ">",
    '"',
    "(",
    ")",
    "\\",
    ";",
    ",",
    ":",
    "=",
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\r\n ",
    "\t",
    "Content-Type: multipart/mixed; boundary=o\r\n",
    "Content-Type: text/html; charset=utf-16\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "--o",
    "--",
    "=?utf-8?q?",
    "?=",
    "DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=; b=",
    "ARC-Seal: i=1; cv=none; a=rsa-sha256; d=example.com; s=s1; b=\r\n",
    "ARC-Message-Signature: i=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=; b=\r\n",
    "ARC-Authentication-Results: i=1; x\r\n",
    "List-Unsubscribe: <https://x>\r\n",
    "Date: ",
    "<a href='",
    "<!--",
    "&#x110000;",
    "http://[::1]/",
    "\xff\x00",
  ),
  fc.string({ maxLength: 8 }),
);
const bytes = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
const name = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom("", "x", "[1.2.3.4]", "a@", "@"),
);

test("a message of random bytes gets a report with a score from 0 to 100", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, name, name, name, async (raw, helo, mailFrom, ip) => {
      const report = await assess(raw, GOOD, { helo, mailFrom, ip });

      expect(report.scored.score).toBeGreaterThanOrEqual(0);
      expect(report.scored.score).toBeLessThanOrEqual(100);
      expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    }),
    RUNS,
  );
});

test("the fields and the body together contain all octets of a message", () => {
  fc.assert(
    fc.property(bytes, (raw) => {
      const { fields, body } = parseMessage(Buffer.from(raw, "latin1"));
      const read = [...fields.map((field) => field.raw), body.toString("latin1")];
      const plain = raw.replaceAll(/\r?\n/g, "\r\n");

      expect(plain.endsWith(body.toString("latin1"))).toBe(true);
      expect(read.filter((text) => !plain.includes(text))).toEqual([]);
    }),
    RUNS,
  );
});

/** Questions to name servers, without those to blocklists, which have as many of their own. */
const QUESTIONS_MAX = 300;

test("a message that causes many DNS queries stops at the limit", async () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  // SPF of two domains, each with ten mx terms of ten hosts each.
  const spf = (own: string): Zone => ({
    [own]: {
      TXT: [
        `v=spf1 ${numbers(10)
          .map((n) => `mx:m${n}.${own}`)
          .join(" ")} -all`,
      ],
    },
    ...Object.fromEntries(
      numbers(10).map((n) => [
        `m${n}.${own}`,
        { MX: numbers(10).map((h) => `1 h${n}-${h}.${own}`) },
      ]),
    ),
    ...Object.fromEntries(
      numbers(100).map((n) => [`h${Math.floor(n / 10)}-${n % 10}.${own}`, { A: ["9.9.9.9"] }]),
    ),
  });
  // A key for each of fifty ARC sets, and each of ten signatures.
  const tags = (n: number) => `a=rsa-sha256; d=d${n}.test; s=s; b=`;
  const sets = numbers(50).map((n) =>
    [
      `ARC-Seal: i=${n + 1}; cv=${n === 0 ? "none" : "pass"}; ${tags(n)}`,
      `ARC-Message-Signature: i=${n + 1}; h=from; bh=; ${tags(n)}`,
      `ARC-Authentication-Results: i=${n + 1}; x`,
    ].join("\r\n"),
  );
  let mail = writeMail();
  for (const n of numbers(10)) mail = await sign(mail, { selector: `k${n}` });
  const dns = createZoneDns({
    ...GOOD,
    ...spf("example.com"),
    ...spf("out.example.com"),
    "10.8.8.8.in-addr.arpa": { PTR: numbers(10).map((n) => `p${n}.test`) },
  });
  await assess(`${sets.join("\r\n")}\r\n${mail}`, dns);

  expect(dns.calls.filter((call) => !call.endsWith(LIST))).toHaveLength(QUESTIONS_MAX);
});

/** A report is stored whole. */
const REPORT_BYTES_MAX = 150_000;

test("a report stays small with any message and any DNS answers", async () => {
  const long = "x".repeat(100_000);
  const links = Array.from({ length: 2_000 }, (_, n) => `<a href="https://l${n}.test/">y</a>`);
  const fields = {
    "DKIM-Signature": `v=1; a=rsa-sha256; d=example.com; s=s1; bh=; b=; h=from:${"x:".repeat(50_000)}y`,
    "ARC-Seal": `i=1; cv=${long}; a=rsa-sha256; d=${long}; s=s1; b=`,
    "ARC-Message-Signature": "i=1; a=rsa-sha256; d=example.com; s=s1; h=from; bh=; b=",
    "ARC-Authentication-Results": "i=1; x",
    Subject: long,
    "Message-ID": `<${long}@x>`,
    "List-Unsubscribe": `<https://example.com/${long}>`,
    "Content-Type": "multipart/mixed; boundary=o",
  };
  const part = `--o\r\nContent-Type: text/html; charset=${long}; name=${long}\r\n\r\n`;
  const zone: Zone = {
    ...GOOD,
    "_dmarc.example.com": { TXT: [`v=DMARC1; p=none; rua=mailto:${long}`] },
    "10.8.8.8.in-addr.arpa": { PTR: Array.from({ length: 500 }, (_, n) => `n${n}.example.com`) },
  };
  const report = await assess(
    writeMail({ fields, body: `${part}${links.join("")}\r\n${part.repeat(100)}` }),
    zone,
    { helo: long.slice(0, 60_000) },
  );

  expect(JSON.stringify(report).length).toBeLessThan(REPORT_BYTES_MAX);
});

test("silent name servers leave every part unknown that needs DNS", async () => {
  const { openParts, scored } = await assess(await sign(writeMail()), async () => ({
    kind: "timeout",
  }));

  expect(openParts).toEqual(["spf", "dkim", "dmarc", "server", "reputation"]);
  expect(scored.score).toBe(100);
});

test.each([
  ["unclosed tags", (n: number) => "<a href='x".repeat(n)],
  ["comments", (n: number) => "<!--".repeat(n)],
  ["scripts", (n: number) => "<script>".repeat(n)],
  ["attributes", (n: number) => `<a ${"b ".repeat(n)}>`],
  ["boundaries", (n: number) => "--o\r\n".repeat(n)],
  ["encoded words", (n: number) => "=?a?b?".repeat(n)],
])("the reader reads %s by the hundred thousand", async (_what, write) => {
  const fields = { "Content-Type": "multipart/mixed; boundary=o", Subject: write(1_000) };
  const html = `--o\r\nContent-Type: text/html\r\n\r\n${write(100_000)}`;
  const { scored } = await assess(writeMail({ fields, body: html }));

  expect(scored.score).toBeLessThan(100);
});

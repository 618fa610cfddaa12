import type { DnsRecordType } from "@mailproof/mail/dns/dns";
import { decodeReply } from "@mailproof/net/dns-message";
import packet from "dns-packet";
import { expect, test } from "vitest";
import { createRandom } from "../simulation/random.ts";

// Any bytes as DNS messages: whatever they are, they are an outcome, and a name in them ends.

const ANSWERS = [
  { type: "MX", name: "a.test", data: { preference: 10, exchange: "mx.a.test" } },
  { type: "A", name: "a.test", data: "8.8.8.8" },
  { type: "AAAA", name: "a.test", data: "2001:db8::1:0:0:1" },
  { type: "TXT", name: "a.test", data: [Buffer.from("v=spf1"), Buffer.from(" -all")] },
  {
    type: "TLSA",
    name: "a.test",
    data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.alloc(32, 7) },
  },
  { type: "NS", name: "a.test", data: "ns.a.test" },
] as const;

const getReply = (type: string) =>
  packet.encode({
    id: 7,
    type: "response",
    questions: [{ type, name: "a.test" }],
    answers: ANSWERS.filter((answer) => answer.type === type),
  });

const KINDS = "ok nodata nxdomain servfail refused too_large truncated formerr unrelated".split(
  " ",
);

test.each(ANSWERS.map(({ type }) => type))("a damaged answer of %s is an outcome", (type) => {
  const random = createRandom(3);
  const kinds = new Set<string>();
  for (let n = 0; n < 5_000; n += 1) {
    const bytes = Buffer.from(getReply(type));
    for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes -= 1)
      bytes[2 + Math.floor(random() * (bytes.length - 2))] = Math.floor(random() * 256);
    const cut = random() < 0.3 ? Math.floor(random() * bytes.length) : bytes.length;
    const question = { id: 7, type: type as DnsRecordType, name: "a.test" };
    kinds.add(decodeReply(bytes.subarray(0, cut), question).kind);
  }

  expect([...kinds].filter((kind) => !KINDS.includes(kind))).toEqual([]);
  expect(kinds.has("servfail") && kinds.has("ok")).toBe(true);
});

test("a pointer to itself, or to what follows, is a failure of the server", () => {
  const bytes = getReply("NS");
  const data = bytes.length - 2;
  const question = { id: 7, type: "NS", name: "a.test" } as const;

  for (const target of [data - 9, data, data + 1]) {
    const pointing = Buffer.from(bytes);
    pointing.writeUInt16BE(0xc000 | target, data - 9);
    expect(decodeReply(pointing, question)).toEqual({ kind: "servfail" });
  }
});

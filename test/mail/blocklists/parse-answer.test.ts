import { BLOCKLISTS, createList } from "@mailproof/mail/blocklists/lists";
import { parseAnswer } from "@mailproof/mail/blocklists/parse-answer";
import { expect, test } from "vitest";

const getCodes = (id: string) =>
  (BLOCKLISTS.find((list) => list.id === id) ?? createList(id)).codes;

const whenAnswered = (id: string, ...records: string[]) =>
  parseAnswer(getCodes(id), records.length > 0 ? { kind: "ok", records } : { kind: "nxdomain" });

test.each([
  ["spamhaus-zen", "127.0.0.2", 60],
  ["spamhaus-zen", "127.0.0.3", 40],
  ["spamhaus-zen", "127.0.0.4", 60],
  ["spamhaus-zen", "127.0.0.9", 60],
  ["spamhaus-zen", "127.0.0.10", 15],
  ["spamhaus-zen", "127.0.0.11", 15],
  ["spamhaus-zen", "127.0.0.30", 60],
  ["spamhaus-dbl", "127.0.1.2", 60],
  ["spamhaus-dbl", "127.0.1.4", 60],
  ["spamhaus-dbl", "127.0.1.103", 30],
  ["spamhaus-zrd", "127.0.2.2", 20],
  ["spamhaus-zrd", "127.0.2.24", 20],
  ["spamcop", "127.0.0.2", 30],
  ["barracuda", "127.0.0.2", 30],
  ["psbl", "127.0.0.2", 20],
  ["mailspike", "127.0.0.2", 20],
  ["mailspike", "127.0.0.12", 20],
  ["surbl", "127.0.0.8", 50],
  ["surbl", "127.0.0.80", 50],
  ["uribl", "127.0.0.2", 40],
  ["uribl", "127.0.0.4", 5],
  ["uribl", "127.0.0.8", 10],
  ["uribl", "127.0.0.14", 40],
  ["uceprotect-1", "127.0.0.2", 5],
  ["spameatingmonkey", "127.0.0.3", 10],
  ["blocklist-de", "127.0.0.14", 10],
  ["bl.example.org", "127.0.0.2", 20],
  ["bl.example.org", "127.0.1.2", 20],
  ["bl.example.org", "127.2.3.4", 20],
])("%s lists by %s, which costs %i", (id, address, costPoints) => {
  expect(whenAnswered(id, address)).toMatchObject({
    kind: "listed",
    codes: [address],
    meaning: { costPoints },
  });
});

test.each([
  ["any", "127.255.255.250"],
  ["any", "127.255.255.251"],
  ["any", "127.255.255.252"],
  ["any", "127.255.255.254"],
  ["any", "127.255.255.255"],
  ["any", "127.0.0.1"],
  ["any", "10.0.0.1"],
  ["any", "93.184.216.34"],
  ["spamhaus-dbl", "127.0.1.255"],
  ["spamhaus-dbl", "127.0.0.2"],
  ["spamhaus-zen", "127.0.0.99"],
  ["spamhaus-zrd", "127.0.2.25"],
  ["surbl", "127.0.0.1"],
  ["surbl", "127.0.0.9"],
  ["uribl", "127.0.0.3"],
  ["surbl", "127.0.1.8"],
])("to %s the code %s is no verdict", (id, address) => {
  const ids = id === "any" ? BLOCKLISTS.map((list) => list.id) : [id];

  for (const one of ids) expect(whenAnswered(one, address).kind).toBe("inconclusive");
});

test.each(["127.0.0.13", "127.0.0.16", "127.0.0.20"])(
  "Mailspike speaks well of an address by %s",
  (address) => {
    expect(whenAnswered("mailspike", address)).toEqual({ kind: "not_listed" });
  },
);

test.each(BLOCKLISTS)("$id does not list what it does not have", ({ codes }) => {
  expect(parseAnswer(codes, { kind: "nxdomain" })).toEqual({ kind: "not_listed" });
  expect(parseAnswer(codes, { kind: "nodata" })).toEqual({ kind: "not_listed" });
});

test.each(["servfail", "refused", "timeout"] as const)("%s is no verdict", (kind) => {
  expect(parseAnswer(getCodes("spamcop"), { kind })).toEqual({ kind: "inconclusive", why: kind });
});

test("beside an error a real code counts", () => {
  expect(whenAnswered("spamhaus-zen", "127.255.255.255", "127.0.0.4")).toMatchObject({
    kind: "listed",
    codes: ["127.0.0.4"],
  });
});

test("of several codes the gravest counts", () => {
  expect(whenAnswered("spamhaus-zen", "127.0.0.11", "127.0.0.9", "127.0.0.2")).toMatchObject({
    codes: ["127.0.0.11", "127.0.0.9", "127.0.0.2"],
    meaning: { costPoints: 60, severity: "critical" },
  });
});

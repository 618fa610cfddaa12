import { expect, test } from "vitest";
import { KEYS, signMail, stampChain } from "../../differential/signer.ts";
import { assess, GOOD, writeMail } from "./mails.ts";

const [KEY] = KEYS;

const ZONE = {
  ...GOOD,
  "a._domainkey.arc.test": { TXT: [`v=DKIM1; k=rsa; p=${KEY?.published}`] },
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
  for (let instance = 1; KEY && instance <= length; instance += 1) {
    const common = Object.entries({ i: `${instance}`, a: "rsa-sha256", d: "arc.test", s: "a" });
    const results = `ARC-Authentication-Results: i=${instance}; mx.test; spf=pass`;
    const options = { key: KEY, headerWay: "simple", bodyWay: "simple" } as const;
    const signature = signMail(
      { header, body },
      { ...options, names: ["From"], tags: common, fieldName: "ARC-Message-Signature" },
    );
    const cv = instance === 1 ? "none" : "pass";
    const signed = [results, signature].flatMap((field) => change(field, instance));
    chain.push(...signed);
    const stamp = stampChain(KEY, chain, [...common, ["cv", cv]]);
    const added = change(stamp, instance);
    chain.push(...added);
    header = [...added, ...signed.toReversed(), header].join("\r\n");
  }
  return `${header}\r\n\r\n${body}`;
};

const isOf = (field: string, name: string) => field.startsWith(`${name}:`);

test.each([1, 2, 3])(
  "a chain of %i is valid, and names those that passed the mail on",
  async (n) => {
    const { arc } = await assess(forward(n), ZONE);

    expect(arc).toMatchObject({ result: "pass", reason: null });
    expect(arc.sets.map(({ instance, domain, chain }) => [instance, domain, chain])).toEqual(
      Array.from({ length: n }, (_, at) => [at + 1, "arc.test", at === 0 ? "none" : "pass"]),
    );
  },
);

test("a mail without a chain has none", async () => {
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
])("a chain is broken when %s", async (_what, change, reason) => {
  const { arc } = await assess(forward(2, change), ZONE);

  expect(arc.result).toBe("fail");
  expect(arc.reason).toContain(reason);
});

test("a chain is broken when the body was changed after it", async () => {
  const { arc } = await assess(`${forward(1)}An addition.\r\n`, ZONE);

  expect(arc).toMatchObject({ result: "fail" });
  expect(arc.reason).toContain("body_hash");
});

test("a key that is not answered leaves a chain open, and a broken one broken", async () => {
  const zone = { ...ZONE, "a._domainkey.arc.test": "TIMEOUT" as const };

  expect((await assess(forward(2), zone)).arc.result).toBe("temperror");
  const broken = forward(2, inArcSeal(2, "cv=pass", "cv=fail"));
  expect((await assess(broken, zone)).arc.result).toBe("fail");
});

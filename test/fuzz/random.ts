import { createRandom } from "../simulation/random.ts";

export type Chances = {
  readonly one: <T>(all: readonly T[]) => T;
  readonly upTo: (most: number) => number;
  readonly sometimes: (share: number) => boolean;
};

/** What is drawn, all from one seed. */
export const createChances = (seed: number): Chances => {
  const chance = createRandom(seed);
  const upTo = (most: number) => Math.floor(chance() * (most + 1));
  return {
    one: <T>(all: readonly T[]) => all[upTo(all.length - 1)] as T,
    upTo,
    sometimes: (share) => chance() < share,
  };
};

/** Texts that have broken programs before. */
export const NASTY_TEXTS: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\r\nX-Evil: 1",
  "\u202eevil",
  "\ufeffann",
  "\ud800",
  "ann\udfff@example.com",
  "e\u0301\u0301\u0301\u0301",
  "👩‍👩‍👧‍👦".repeat(20),
  "İıŞß",
  "ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ",
  "用户@例子.公司",
  "__proto__",
  "constructor",
  "toString",
  "=cmd|' /C calc'!A0",
  "'; DROP TABLE accounts; --",
  "../../../../etc/passwd",
  "${jndi:ldap://example.com}",
  "<script>alert(1)</script>",
  "%00%0a%2e%2e%2f",
  "null",
  "NaN",
  "1e309",
  "a@b@c",
  '"quoted local"@example.com',
  "ann@[127.0.0.1]",
  "#",
  "x#y#z",
];

export const NASTY_NUMBERS: readonly unknown[] = [
  0,
  -0,
  -1,
  0.5,
  1e-320,
  1e308,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  1e21,
];

const nest = (depth: number, leaf: unknown): unknown =>
  depth === 0 ? leaf : depth % 2 === 0 ? [nest(depth - 1, leaf)] : { a: nest(depth - 1, leaf) };

/** Values of every kind, for where one of another kind belongs. */
export const drawValue = ({ one, upTo }: Chances): unknown =>
  one<() => unknown>([
    () => one(NASTY_TEXTS),
    () => one(NASTY_NUMBERS),
    () => one([true, false, null, [], {}, [[]], [null]]),
    () => nest(1 + upTo(300), one(["leaf", 1, null])),
    () => ({ [one(NASTY_TEXTS)]: one(NASTY_TEXTS) }),
    () => Array.from({ length: upTo(40) }, () => one(NASTY_TEXTS)),
    () => "x".repeat(upTo(3_000)),
  ])();

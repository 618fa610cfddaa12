import { createRandom } from "../../simulation/random.ts";
import { UNREAD_FAMILY } from "./local-part-lab.ts";

// Goal: dead domains of which we know what was meant, to see how often the advice is right when it says 0.9.
// Method: half are providers with one or two slips, drawn as often as the popularity of their place; half are
// firms that closed: a family name, or two to five letters, and an ending. The slips know nothing of the costs.

/** A short list for the tests, the most popular first. */
export const PROVIDERS: readonly string[] = `
  gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com me.com mail.ru yandex.ru gmx.de web.de
  qq.com 163.com mail.com proton.me protonmail.com hotmail.fr orange.fr yahoo.fr yahoo.co.uk hotmail.co.uk comcast.net
  gmx.net libero.it t-online.de googlemail.com ymail.com
`
  .trim()
  .split(/\s+/);

/** What was typed, and the provider that was meant; null for a firm. */
export type DeadDomain = { readonly typed: string; readonly meant: string | null };

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Only the letters beside each other on one board: enough to play a finger that lands aside. */
const ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

const below = (chance: () => number, n: number): number => Math.floor(chance() * n);

const SLIPS: readonly ((text: string, at: number, chance: () => number) => string)[] = [
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + text.slice(at, at + 1).repeat(2) + text.slice(at + 1),
  (text, at) => text.slice(0, at) + (text[at + 1] ?? "") + (text[at] ?? "") + text.slice(at + 2),
  (text, at, chance) => text.slice(0, at) + beside(text[at] ?? "", chance) + text.slice(at + 1),
  (text, at, chance) => text.slice(0, at) + beside(text[at] ?? "", chance) + text.slice(at + 1),
  (text, at, chance) => text.slice(0, at) + (LETTERS[below(chance, 26)] ?? "") + text.slice(at),
];

const beside = (key: string, chance: () => number): string => {
  const row = ROWS.find((keys) => keys.includes(key)) ?? LETTERS;
  const at = row.indexOf(key) + (chance() < 0.5 ? 1 : -1);
  return row[at] ?? row[row.length - 2] ?? "";
};

const slipped = (domain: string, chance: () => number): string => {
  let text = domain;
  for (let slips = chance() < 0.85 ? 1 : 2; slips > 0; slips--)
    text = SLIPS[below(chance, SLIPS.length)]?.(text, below(chance, text.length), chance) ?? text;
  return text;
};

const TOTAL = PROVIDERS.reduce((sum, _, index) => sum + 1 / (index + 1), 0);
const popular = (chance: () => number): string => {
  let left = chance() * TOTAL;
  return PROVIDERS.find((_, index) => (left -= 1 / (index + 1)) <= 0) ?? "gmail.com";
};

const ENDINGS = ["com", "com", "com", "com", "net", "de", "fr", "co.uk", "io", "org"];
const firm = (chance: () => number): string => {
  const isShort = chance() < 0.5;
  const letters = Array.from({ length: 2 + below(chance, 4) }, () => LETTERS[below(chance, 26)]);
  const name = isShort ? letters.join("") : UNREAD_FAMILY[below(chance, UNREAD_FAMILY.length)];
  return `${name}.${ENDINGS[below(chance, ENDINGS.length)]}`;
};

export const deadDomains: readonly DeadDomain[] = (() => {
  const chance = createRandom(53);
  return Array.from({ length: 4_000 }, (_, n) => {
    if (n % 2 === 0) return { typed: firm(chance), meant: null };
    const meant = popular(chance);
    return { typed: slipped(meant, chance), meant };
  }).filter(({ typed }) => !PROVIDERS.includes(typed));
})();

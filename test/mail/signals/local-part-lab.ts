import { createRandom } from "../../simulation/random.ts";

// Goal: labelled local parts that the spelling model has not read, to see what its numbers are worth.
// Method: names kept apart from packages/mail/src/signals/name-words.ts (name-likeness.test.ts sees to it), joined by
// the patterns people use; against them, what machines and rolling hands make. One seed, so every run is the same.

const getWords = (text: string): readonly string[] => text.trim().split(/\s+/);

export const UNREAD_GIVEN = getWords(`
  oscar victor hugo leonard theodore gilbert harvey stuart clifford wendy tracy gwen bridget fiona sheila
  bernhard ulrich friedrich annette gisela ottilie leopold maximilian severin gunther ragnar sigrid torsten
  yvonne gaston thierry margot odile etienne benoit ignacio consuelo esteban rodrigo ximena aurora joaquin
  leonor anabela fabricio ottavio umberto ludovica renata bogdan stanislav wieslaw halina dobromir radoslav
  vesna snezana tibor ildiko gheorghe dumitra evgeny galina ludmila timur apostolos vasiliki orhan gulsen
  selim tarek nabil samira yasmin farhad shirin eitan tamar rohan kavita mohan sunita ganesh jiahao yuxin
  kaori daisuke shinji mariko jisoo sanghoon phuc tuyet adwoa kofoworola zanele babatunde
`);

export const UNREAD_FAMILY = getWords(`
  harrington whitaker ellsworth pemberton stafford mccarthy gallagher kavanagh donnelly sinclair lockwood
  ashworth vogel brandt steinbach kirchner lindemann oberhauser habermann dietrich vanderberg hoekstra
  dijkstra verhoeven chevalier beaumont delacroix marchand perrault lemaire zapata quintero montoya
  echeverria figueroa arroyo pacheco teixeira magalhaes nogueira azevedo montanari bellini santoro caruso
  tagliaferri wozniak jablonski krawczyk sikorski hruska kratochvil fekete balogh radulescu stanescu
  stojanovic vukovic romanov orlov zaitsev lysenko kravchenko stavros demetriou erdogan karaca polat
  haugen solberg bjornstad hakansson sandstrom lehtonen heikkinen aziz farouk qureshi siddiqui shapiro
  rosenthal banerjee mukherjee chatterjee kulkarni subramanian zheng xiang cheng fujimoto ishikawa
  matsuda hwang nguyenhuu achebe mutua khumalo
`);

const pick = (chance: () => number, from: readonly string[] | string): string =>
  from[Math.floor(chance() * from.length)] ?? "";

const drawn = (chance: () => number, alphabet: string, length: number): string =>
  Array.from({ length }, () => pick(chance, alphabet)).join("");

const between = (chance: () => number, least: number, most: number): number =>
  least + Math.floor(chance() * (most - least + 1));

const HUMAN: readonly ((first: string, last: string, chance: () => number) => string)[] = [
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}${last}`,
  (first, last) => `${first[0]}${last}`,
  (first, last) => `${first[0]}.${last}`,
  (first, last) => `${first}_${last[0]}`,
  (first, last) => `${last}.${first}`,
  (first, last, chance) => `${first}.${last}${between(chance, 1, 99)}`,
  (first, _, chance) => `${first}${between(chance, 1950, 2010)}`,
  (_, last) => last,
];

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";

const MACHINE: readonly ((chance: () => number) => string)[] = [
  (chance) => drawn(chance, LETTERS + DIGITS, between(chance, 8, 14)),
  (chance) => drawn(chance, LETTERS + DIGITS, between(chance, 8, 14)),
  (chance) => drawn(chance, LETTERS, between(chance, 8, 12)),
  (chance) => drawn(chance, "abcdef0123456789", between(chance, 12, 32)),
  (chance) => drawn(chance, LETTERS, 5) + drawn(chance, DIGITS, between(chance, 3, 6)),
  (chance) => {
    const row = pick(chance, ["qwertyuiop", "asdfghjkl", "zxcvbnm", "poiuytrewq", "lkjhgfdsa"]);
    return row.slice(0, between(chance, 5, 7)) + drawn(chance, DIGITS, between(chance, 0, 2));
  },
];

/** The threshold in bot.ts was chosen on other draws; this one is fresh. */
const SEED = 2_718;
const EACH = 400;

export const humanLocals: readonly string[] = (() => {
  const chance = createRandom(SEED);
  return Array.from({ length: EACH }, (_, n) =>
    HUMAN[n % HUMAN.length]?.(pick(chance, UNREAD_GIVEN), pick(chance, UNREAD_FAMILY), chance),
  ).map(String);
})();

export const machineLocals: readonly string[] = (() => {
  const chance = createRandom(SEED + 1);
  return Array.from({ length: EACH }, (_, n) => MACHINE[n % MACHINE.length]?.(chance)).map(String);
})();

/** How often a number puts one of the first above one of the second (area under the ROC curve); 0.5 is blind. */
export const areaUnderCurve = (high: readonly number[], low: readonly number[]): number => {
  let wins = 0;
  for (const a of high) for (const b of low) wins += a > b ? 1 : a === b ? 0.5 : 0;
  return wins / (high.length * low.length);
};

/** One row per tenth of the scale, as a table for docs/scores.md: how many of each kind lie there. */
export const calibration = (
  [highName, high]: readonly [string, readonly number[]],
  [lowName, low]: readonly [string, readonly number[]],
  bounds: readonly number[],
): string => {
  const rows = bounds.slice(1).map((to, at) => {
    const from = bounds[at] ?? 0;
    const isIn = (value: number) => value >= from && (value < to || to === bounds.at(-1));
    const [ofHigh, ofLow] = [high.filter(isIn).length, low.filter(isIn).length];
    const share = ofHigh + ofLow === 0 ? "-" : (ofHigh / (ofHigh + ofLow)).toFixed(2);
    return `| ${from.toFixed(1)}-${to.toFixed(1)} | ${ofHigh} | ${ofLow} | ${share} |`;
  });
  return [
    `| number | ${highName} | ${lowName} | share of ${highName} |`,
    "| --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
};

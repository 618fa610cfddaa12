import { hash } from "node:crypto";

export const createRandom = (text: string): (() => number) => {
  let state = hash("sha256", text, "buffer").readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const pickOne = (words: readonly string[], random: number): string =>
  words[Math.floor(random * words.length)] ?? "";

export const pickWeighted = <T>(shares: readonly (readonly [T, number])[], random: number): T => {
  let left = random * shares.reduce((sum, [, share]) => sum + share, 0);
  for (const [value, share] of shares) {
    left -= share;
    if (left < 0) return value;
  }
  throw new Error("The shares add up to nothing.");
};

/** Given names and family names from many countries, in plain letters, for the people of the lab's companies. */
export const LAB_GIVEN_NAMES =
  "ada alan alice amara amina anders andrea anna anton aisha beatriz ben bruno carla carlos cecilia chen chloe clara daniel david diego dmitri elena elif emma eric erik eva fatima felix fiona franz freya george giulia grace hana hannah hugo ibrahim ines ingrid ivan jack james jan javier jin johan jonas julia kai karin kenji kofi lara laura lea leo lina linh louis lucas luisa maja marco maria marta mateo maya mei miguel mila mina nadia naomi nina noah nora olga oliver omar oscar paul pedro petra priya rafael ravi rosa sam sara sofia stefan sven tariq thomas tim tomas ulla vera victor wei yara yuki zoe".split(
    " ",
  );

export const LAB_FAMILY_NAMES =
  "abbott adeyemi ahmed alvarez andersen arslan baker bauer becker bell bennett berg bianchi brandt brown carter castro chan clark costa cruz dahl davis demir diaz dubois eriksen evans ferrari fischer fontaine fuchs garcia gomez gupta haas hall hansen hoffman horvat hughes ito ivanov jensen johnson jones kaya keller khan kim klein koch kovacs kowalski kumar lang larsen laurent lee lehmann lopez lund martin mendes meyer miller mori moreau moretti muller nakamura nguyen nielsen novak nowak okafor olsen ortiz osei park patel perez petrov popov price reed reyes ricci richter rivera roberts romano rossi roy russo saito santos schmidt schneider sharma silva singh smith sousa stone suzuki tanaka taylor torres turner vogel wagner walker wang weber white wilson wolf wood wright yamamoto yilmaz young zhang".split(
    " ",
  );

export type LabPerson = {
  readonly first: string;
  readonly last: string;
  readonly local: string;
};

export type LabPattern = keyof typeof LOCALS;

const getInitial = (name: string): string => name.slice(0, 1);

export const LOCALS = {
  "first.last": (first: string, last: string) => `${first}.${last}`,
  flast: (first: string, last: string) => `${getInitial(first)}${last}`,
  first: (first: string) => first,
  "f.last": (first: string, last: string) => `${getInitial(first)}.${last}`,
  firstlast: (first: string, last: string) => `${first}${last}`,
  first_last: (first: string, last: string) => `${first}_${last}`,
  "last.first": (first: string, last: string) => `${last}.${first}`,
  firstl: (first: string, last: string) => `${first}${getInitial(last)}`,
  lastf: (first: string, last: string) => `${last}${getInitial(first)}`,
  first_l: (first: string, last: string) => `${first}_${getInitial(last)}`,
  "first.l": (first: string, last: string) => `${first}.${getInitial(last)}`,
  "first-last": (first: string, last: string) => `${first}-${last}`,
} as const;

/** Tells whether a domain has a person with this local part. Computes the people of a domain once. */
export const createLocalsOf = (listPeople: (domain: string) => readonly LabPerson[]) => {
  const locals = new Map<string, ReadonlySet<string>>();
  return (domain: string, local: string): boolean => {
    const known = locals.get(domain) ?? new Set(listPeople(domain).map((one) => one.local));
    locals.set(domain, known);
    return known.has(local);
  };
};

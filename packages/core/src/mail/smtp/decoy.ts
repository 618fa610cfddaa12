const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const SIGNS = `${LETTERS}0123456789`;
const LENGTH = 20;

/** An address that nobody has: a server that accepts it accepts everybody. */
export const decoyAt = (domain: string, random: () => number): string => {
  const sign = (_: unknown, index: number) => pick(index === 0 ? LETTERS : SIGNS, random);
  return `${Array.from({ length: LENGTH }, sign).join("")}@${domain}`;
};

const pick = (signs: string, random: () => number): string =>
  signs.charAt(Math.floor(random() * signs.length));

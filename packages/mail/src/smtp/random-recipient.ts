const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const CHARACTERS = `${LETTERS}0123456789`;
const LENGTH = 20;

/** Returns an address that should not exist: a server that accepts it accepts every recipient. */
export const createRandomRecipient = (domain: string, random: () => number): string => {
  const pickAt = (_: unknown, index: number) =>
    pickCharacter(index === 0 ? LETTERS : CHARACTERS, random);
  return `${Array.from({ length: LENGTH }, pickAt).join("")}@${domain}`;
};

const pickCharacter = (characters: string, random: () => number): string =>
  characters.charAt(Math.floor(random() * characters.length));

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

/** A small generator of numbers that look random and are the same for the same seed (mulberry32). */
export const createRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixBits = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixBits = (mixBits + Math.imul(mixBits ^ (mixBits >>> 7), 61 | mixBits)) ^ mixBits;
  return ((mixBits ^ (mixBits >>> 14)) >>> 0) / 4_294_967_296;
};

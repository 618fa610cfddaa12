export type Chance = () => number;

export const drawBelow = (chance: Chance, most: number): number => Math.floor(chance() * most);

export const pickOne = <T>(all: readonly T[], chance: Chance): T =>
  all[drawBelow(chance, all.length)] as T;

export type Chance = () => number;

export const below = (chance: Chance, most: number): number => Math.floor(chance() * most);

export const oneOf = <T>(all: readonly T[], chance: Chance): T =>
  all[below(chance, all.length)] as T;

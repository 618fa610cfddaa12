/** npm run check plays so many histories; npm run test:all plays all. */
export const SMOKE_SEEDS = 50;
export const ALL_SEEDS = 100;

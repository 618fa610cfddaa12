/** npm run check plays so many histories; npm test plays all. */
export const SMOKE_SEEDS = 50;
export const ALL_SEEDS = 300;

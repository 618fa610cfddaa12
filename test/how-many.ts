type Counts = { readonly few: number; readonly many: number };

/** How many cases a test draws or plays: few in npm test, which every change waits for, and many in npm run test:histories. */
export const getCount = ({ few, many }: Counts): number =>
  process.env["GROUP"] === "histories" ? many : few;

/** 1.96 standard deviations: the interval contains the true share in 19 of 20 samples. */
const Z = 1.96;

/**
 * Wilson's interval for a share, estimated from a sample (Wilson 1927). Unlike the share plus or minus its deviation, it stays
 * within 0–1 and holds for small samples and for shares near 0: none of 30 gives 0 to 0.11, not "exactly 0".
 */
export const estimateShare = (
  count: number,
  of: number,
): { readonly least: number; readonly most: number } => {
  if (of === 0) return { least: 0, most: 1 };
  const share = count / of;
  const weight = 1 + Z ** 2 / of;
  const middle = (share + Z ** 2 / (2 * of)) / weight;
  const half = (Z * Math.sqrt((share * (1 - share)) / of + (Z / (2 * of)) ** 2)) / weight;
  // Both ends are exact when the count is 0 or the whole sample; rounding errors would leave 1e-17.
  return {
    least: count === 0 ? 0 : middle - half,
    most: count === of ? 1 : middle + half,
  };
};

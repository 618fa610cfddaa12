/** Draws the scores of a domain from 0 to 100, with the oldest first. A single score is shown as text only. */
export const Sparkline = ({ scores }: { readonly scores: readonly number[] }) => {
  const last = scores.at(-1);
  if (last === undefined || scores.length < 2) return null;
  const step = 100 / (scores.length - 1);
  const points = scores.map((score, at) => `${at * step},${30 - score * 0.3}`).join(" ");
  return (
    <svg
      class="sparkline"
      viewBox="-3 -3 106 36"
      role="img"
      aria-label={`${scores.length} checks, oldest first: ${scores.join(", ")}`}
    >
      <polyline points={points} />
      <circle cx={(scores.length - 1) * step} cy={30 - last * 0.3} r="3" />
    </svg>
  );
};

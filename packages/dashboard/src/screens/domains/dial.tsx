/** A half circle from 0 to 100. Its path has the length 100, so one unit is one point. */
const ARC = "M 10 55 A 45 45 0 0 1 100 55";

type Props = { readonly score: number; readonly grade: string };

export const Dial = ({ score, grade }: Props) => (
  <svg
    class={`dial is-${grade}`}
    viewBox="0 0 110 64"
    role="img"
    aria-label={`Grade ${grade}, ${score} of 100`}
  >
    <path class="track" d={ARC} pathLength="100" />
    {score > 0 && <path class="value" d={ARC} pathLength="100" stroke-dasharray={`${score} 100`} />}
    <text class="dial-grade" x="55" y="46" text-anchor="middle">
      {grade}
    </text>
    <text class="dial-score" x="55" y="61" text-anchor="middle">
      {score} of 100
    </text>
  </svg>
);

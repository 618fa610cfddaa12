import type { ComponentChildren } from "preact";

/** The outlines of a part, as rectangles of x, y, width and height: shown while it loads, and while it is empty. */
const SHAPES = {
  lines: [
    [0, 4, 220, 9],
    [0, 26, 300, 9],
    [0, 48, 160, 9],
  ],
  figure: [
    [0, 0, 150, 30],
    [0, 46, 240, 9],
  ],
  rows: [0, 1, 2].flatMap((n) => [
    [0, 6 + n * 34, 110 + 24 * ((n + 1) % 3), 9],
    [190, 4 + n * 34, 54, 13],
    [280, 6 + n * 34, 70 - 12 * n, 9],
    [0, 28 + n * 34, 400, 1],
  ]),
  bars: [38, 52, 30, 66, 74, 48, 60, 82, 70, 92].map((height, n) => [
    n * 40 + 4,
    100 - height,
    30,
    height,
  ]),
  grades: [0, 1, 2].flatMap((n) => [
    [0, n * 38, 28, 28],
    [42, 2 + n * 38, 150 - 26 * n, 9],
    [42, 18 + n * 38, 100 + 18 * n, 7],
  ]),
} as const satisfies Readonly<Record<string, readonly (readonly number[])[]>>;

export type ShapeName = keyof typeof SHAPES;

const Shape = ({ name }: { readonly name: ShapeName }) => (
  <svg class="shape" viewBox="0 0 400 110" aria-hidden="true">
    {SHAPES[name].map(([x, y, width, height]) => (
      <rect key={`${x} ${y}`} x={x} y={y} width={width} height={height} rx="3" />
    ))}
  </svg>
);

type WaitingProps = {
  readonly what: string;
  readonly shape?: ShapeName | undefined;
};

export const Waiting = ({ what, shape = "lines" }: WaitingProps) => (
  <p class="waiting" role="status">
    <span class="unseen">Loading {what} …</span>
    <Shape name={shape} />
  </p>
);

type EmptyProps = {
  readonly shape: ShapeName;
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
};

export const Empty = ({ shape, children, action }: EmptyProps) => (
  <div class="empty">
    <Shape name={shape} />
    <p>{children}</p>
    {action}
  </div>
);

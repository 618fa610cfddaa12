export const formatMarkdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string => {
  const widths = head.map((_, at) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[at]?.length ?? 0)),
  );
  const rule = widths.map((width) => "-".repeat(width));
  return [head, rule, ...rows]
    .map((cells) => widths.map((width, at) => (cells[at] ?? "").padEnd(width)))
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
};

const toCell = (text: string): unknown => {
  if (/^-?\d+(?:\.\d+)?$|^(?:null|true|false)$/.test(text)) return JSON.parse(text);
  const [, inner] = /^\[(.*)\]$/.exec(text) ?? [];
  const words = inner?.split(" ").filter(Boolean);
  return words?.every((word) => /^\d+$/.test(word)) ? words.map(Number) : (words ?? text);
};

/**
 * A table of cases, a line each: cells stand between " | ", and a line that begins with "|" goes on with the one above.
 * A cell is a value (`${…}`), a number, null, true or false, words or whole numbers in brackets, or else a text.
 */
export const asRows = <Row extends readonly unknown[] = any[]>(
  texts: TemplateStringsArray,
  ...values: readonly unknown[]
): Row[] =>
  texts
    .reduce((all, text, at) => `${all}\ue000${at - 1}\ue000${text}`)
    .replaceAll(/\n *\|/g, " |")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//"))
    .map((line) =>
      line.split(" | ").map((cell) => {
        const whole = /^\ue000(\d+)\ue000$/.exec(cell)?.[1];
        if (whole !== undefined) return values[Number(whole)];
        return toCell(cell.replaceAll(/\ue000(\d+)\ue000/g, (_, at) => String(values[Number(at)])));
      }),
    ) as unknown as Row[];

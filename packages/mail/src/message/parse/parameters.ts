export type FieldParameters = {
  /** The value in lower case, such as "text/html" or "attachment". */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
};

/** A mail has few parameters; a hostile one may have thousands. */
const PARAMETERS_MAX = 50;
const TEXT_LENGTH_MAX = 10_000;

/** Parses the value and parameters of Content-Type or Content-Disposition (RFC 2045 §5.1, RFC 2231 §3). */
export const parseParameters = (text: string): FieldParameters => {
  const parts = splitOutsideQuotes(text.slice(0, TEXT_LENGTH_MAX));
  const parameters = new Map<string, string>();
  for (const part of parts.slice(1, PARAMETERS_MAX)) {
    const equals = part.indexOf("=");
    if (equals < 1) continue;
    // "name*0*" is a piece of "name". Pieces are joined in the order in which they were sent.
    const name = (part.slice(0, equals).split("*", 1)[0] ?? "").trim().toLowerCase();
    const isPiece = /\*\d/.test(part.slice(0, equals));
    const value = unquote(part.slice(equals + 1).trim());
    const before = parameters.get(name);
    if (before === undefined) parameters.set(name, value);
    else if (isPiece) parameters.set(name, before + value);
  }
  return { value: (parts[0] ?? "").trim().toLowerCase(), parameters };
};

const unquote = (value: string): string =>
  value.startsWith('"')
    ? value
        .slice(1)
        .replace(/"[^"]*$/, "")
        .replaceAll(/\\(.)/g, "$1")
    : value;

const splitOutsideQuotes = (text: string): readonly string[] => {
  const parts = [""];
  let isQuoted = false;
  let comments = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    const last = parts.length - 1;
    if (sign === "\\" && isQuoted) {
      parts[last] += sign + text.charAt(at + 1);
      at += 1;
    } else if (sign === '"' && comments === 0) {
      isQuoted = !isQuoted;
      parts[last] += sign;
    } else if (isQuoted) parts[last] += sign;
    else if (sign === "(") comments += 1;
    else if (sign === ")" && comments > 0) comments -= 1;
    else if (comments > 0) continue;
    else if (sign === ";") parts.push("");
    else parts[last] += sign;
  }
  return parts;
};

import { cutToFit, getLastLabel, isTopLabel, removeFinalDot } from "./name.ts";

/** RFC 7208 §7.2. Only explanations may use the last three. */
const LETTERS_OF_DOMAINS = "slodiphv";
const LETTERS_OF_EXPLANATIONS = "slodiphvcrt";

export type MacroLetter = "s" | "l" | "o" | "d" | "i" | "p" | "h" | "v" | "c" | "r" | "t";

export type MacroValues = Readonly<Record<MacroLetter, string>>;

export type Macro = {
  readonly letter: MacroLetter;
  readonly partsMax: number;
  readonly reversed: boolean;
  readonly delimiters: string;
  readonly escaped: boolean;
};

/**
 * macro-string = *( macro-expand / macro-literal )
 * macro-expand = ( "%{" macro-letter transformers *delimiter "}" ) / "%%" / "%_" / "%-"
 *
 * `sign` is the character that one of the last three encodes. Unlike a literal, it may be the end of a domain.
 */
export type Piece = { readonly literal: string } | { readonly sign: string } | Macro;

export type MacroString = readonly Piece[];

const MACRO = /%(?:\{([a-z])(\d*)(r?)([.\-+,/_=]*)\}|([%_-]))/iy;
const LITERAL_OF_DOMAINS = /[!-$&-~]+/y;
const LITERAL_OF_EXPLANATIONS = /[ -$&-~]+/y;
const SIGNS: Readonly<Record<string, string>> = { "%": "%", _: " ", "-": "%20" };

/** Undefined when the text is not a macro-string: a % without a macro, an unknown letter, a byte beyond ASCII. */
export const parseMacroString = (
  text: string,
  use: "domain" | "explanation",
): MacroString | undefined => {
  const letters = use === "domain" ? LETTERS_OF_DOMAINS : LETTERS_OF_EXPLANATIONS;
  const literal = use === "domain" ? LITERAL_OF_DOMAINS : LITERAL_OF_EXPLANATIONS;
  const pieces: Piece[] = [];
  let at = 0;
  while (at < text.length) {
    const found = matchAt(literal, text, at) ?? matchAt(MACRO, text, at);
    const piece = found && toPiece(found, letters);
    if (!piece) return undefined;
    pieces.push(piece);
    at += found[0].length;
  }
  return pieces;
};

const matchAt = (sticky: RegExp, text: string, at: number): RegExpExecArray | undefined => {
  sticky.lastIndex = at;
  return sticky.exec(text) ?? undefined;
};

const toPiece = (found: RegExpExecArray, letters: string): Piece | undefined => {
  const [whole, letter, digits = "", reversed = "", delimiters = "", sign] = found;
  if (sign !== undefined) return { sign: SIGNS[sign] ?? "" };
  if (letter === undefined) return { literal: whole };
  const lower = letter.toLowerCase();
  // RFC 7208 §7.3: a number of parts must not be zero.
  if (!letters.includes(lower) || (digits !== "" && Number(digits) === 0)) return undefined;
  return {
    letter: lower as MacroLetter,
    partsMax: digits === "" ? Number.POSITIVE_INFINITY : Number(digits),
    reversed: reversed !== "",
    delimiters: delimiters === "" ? "." : delimiters,
    escaped: letter !== lower,
  };
};

/**
 * domain-spec = macro-string domain-end
 * domain-end = ( "." toplabel [ "." ] ) / macro-expand
 *
 * The rule applies to the written text; the value of a macro is not known yet (RFC 7208 §4.8).
 */
export const isDomainSpec = (pieces: MacroString): boolean => {
  const last = pieces.at(-1);
  if (!last || !("literal" in last)) return last !== undefined;
  const end = removeFinalDot(last.literal);
  return end.includes(".") && isTopLabel(getLastLabel(end));
};

export const listLetters = (pieces: MacroString): readonly MacroLetter[] =>
  pieces.flatMap((piece) => ("letter" in piece ? [piece.letter] : []));

export const expand = (pieces: MacroString, values: MacroValues): string =>
  pieces.map((piece) => expandPiece(piece, values)).join("");

/** Expands the name of a domain-spec. The name may still be invalid: macros can leave empty or too long labels. */
export const expandName = (pieces: MacroString, values: MacroValues): string =>
  cutToFit(removeFinalDot(expand(pieces, values)));

const expandPiece = (piece: Piece, values: MacroValues): string => {
  if ("literal" in piece) return piece.literal;
  if ("sign" in piece) return piece.sign;
  const { letter, partsMax, reversed, delimiters, escaped } = piece;
  const parts = values[letter].split(new RegExp(`[${delimiters.replaceAll("-", "\\-")}]`));
  const turned = reversed ? parts.toReversed() : parts;
  const text = turned.slice(-partsMax).join(".");
  return escaped ? escapeForUrl(text) : text;
};

/** Escapes all characters but RFC 3986's unreserved characters; encodeURIComponent leaves five further characters unescaped. */
const escapeForUrl = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

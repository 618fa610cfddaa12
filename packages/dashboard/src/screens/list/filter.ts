import type { GetJobInput } from "@mailproof/client";
import { toProviderWords, toReasonWords, toStatusWords } from "../../parts/words.ts";

// The chosen rows. The URL contains filter and order, so that links and Back work. The searched text is part of a person's address, so it
// stays out of the URL.

export type Sort = NonNullable<GetJobInput["sort"]>;

const COLUMNS = ["row", "email", "status", "score"] as const;

export type SortColumn = (typeof COLUMNS)[number];

const SORTS: readonly Sort[] = COLUMNS.flatMap((column) => [column, `-${column}` as const]);

export const readSort = (text: string | null): Sort => SORTS.find((one) => one === text) ?? "row";

export const toggleSort = (sort: Sort, column: SortColumn): Sort =>
  sort === column ? `-${column}` : column;

export const readTerms = (filter: string | null): readonly string[] =>
  (filter ?? "").split(",").filter(Boolean);

export const toggleTerm = (terms: readonly string[], term: string): readonly string[] =>
  terms.includes(term) ? terms.filter((one) => one !== term) : [...terms, term];

export type Chosen = { readonly terms: readonly string[]; readonly text: string };

export const toRequest = ({ terms, text }: Chosen) => ({
  ...(terms.length > 0 && { filter: terms.join(",") }),
  ...(text !== "" && { q: text }),
});

export const FIELDS = {
  send: "Send",
  status: "Status",
  reason: "Why",
  provider: "Provider",
  domain: "Domain",
  score: "Score",
  origin: "Since the earlier list",
} as const;
export type Field = keyof typeof FIELDS;

const asItIs = (value: string): string => value;

const TO_WORDS: Readonly<Record<Field, (value: string) => string>> = {
  send: asItIs,
  status: toStatusWords,
  reason: toReasonWords,
  provider: toProviderWords,
  domain: asItIs,
  score: (value) => value.replace("-", "–"),
  origin: (value) => (value === "new" ? "New" : "Known"),
};

export const toWords = (field: Field, value: string): string => TO_WORDS[field](value);

export const toTermWords = (term: string): string => {
  const colon = term.indexOf(":");
  const [field, value] = [term.slice(0, colon), term.slice(colon + 1)];
  return Object.hasOwn(FIELDS, field)
    ? `${FIELDS[field as Field]}: ${toWords(field as Field, value)}`
    : term;
};

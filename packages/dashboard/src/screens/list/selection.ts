import type { GetJobInput } from "@mailproof/client";

// Which rows the table shows. Filter and order are in the address, so links and Back work. The text is part of a person's
// address, so it is in no URL.

/** The orders of the API. */
export type Sort = NonNullable<GetJobInput["sort"]>;

const COLUMNS = ["row", "email", "status", "score"] as const;

/** A column of the table that has an order. */
export type SortColumn = (typeof COLUMNS)[number];

const SORTS: readonly Sort[] = COLUMNS.flatMap((column) => [column, `-${column}` as const]);

export const readSort = (text: string | null): Sort => SORTS.find((one) => one === text) ?? "row";

export type Selection = {
  /** Terms such as "status:valid". */
  readonly terms: readonly string[];
  readonly text: string;
  readonly sort: Sort;
};

export const readTerms = (filter: string | null): readonly string[] =>
  (filter ?? "").split(",").filter(Boolean);

export const toggleTerm = (terms: readonly string[], term: string): readonly string[] =>
  terms.includes(term) ? terms.filter((one) => one !== term) : [...terms, term];

/** As getJob takes it. */
export const toRequest = ({ terms, text, sort }: Selection) => ({
  sort,
  ...(terms.length > 0 && { filter: terms.join(",") }),
  ...(text !== "" && { q: text }),
});

/** The order after a click on the head of a column: its own, then reversed. */
export const toggleSort = (sort: Sort, column: SortColumn): Sort =>
  sort === column ? `-${column}` : column;

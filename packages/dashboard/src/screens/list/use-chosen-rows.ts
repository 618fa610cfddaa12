import { useRef, useState } from "preact/hooks";
import { navigate, query } from "../../router.ts";
import { type Chosen, readSort, readTerms, type Sort, toggleTerm } from "./filter.ts";

const TYPING_MS = 250;

/** Opens the list with changes in its query: an empty value removes its name. */
export const openList = (
  id: string,
  changes: Readonly<Record<string, string>>,
  replace: boolean,
): void => {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes))
    if (value === "") next.delete(name);
    else next.set(name, value);
  // A query may contain colons and commas, and such a link is easier to read.
  const text = next.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
  navigate(`lists/${id}${text === "" ? "" : `?${text}`}`, { replace });
};

export type ChosenRows = Chosen & {
  readonly sort: Sort;
  readonly typed: string;
  readonly search: (value: string) => void;
  readonly toggle: (term: string) => void;
  readonly clear: () => void;
};

export const useChosenRows = (id: string): ChosenRows => {
  const terms = readTerms(query.value.get("filter"));
  const sort = readSort(query.value.get("sort"));
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = (value: string): void => {
    clearTimeout(timer.current);
    setTyped(value);
    timer.current = setTimeout(() => setText(value.trim()), TYPING_MS);
  };
  const filter = (value: readonly string[]): void =>
    openList(id, { filter: value.join(",") }, true);
  return {
    terms,
    text,
    sort,
    typed,
    search,
    toggle: (term: string) => filter(toggleTerm(terms, term)),
    clear: () => {
      search("");
      filter([]);
    },
  };
};

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { Facets } from "./facets.ts";
import { toTermWords } from "./filter.ts";
import { Rail } from "./rail.tsx";
import type { ChosenRows } from "./use-chosen-rows.ts";

type SheetProps = {
  readonly chosen: ChosenRows;
  readonly all: Facets;
  readonly left: Facets;
  readonly matching: number;
};

/** The rail of a small window is a sheet behind a button with the number of chosen filters. */
const FilterSheet = ({ chosen: { terms, toggle }, all, left, matching }: SheetProps) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" class="list-tool list-sheet" onClick={() => setOpen(true)}>
        <Icon name="filter" />
        {terms.length === 0 ? "Filter" : `Filter · ${terms.length}`}
      </button>
      <Dialog title="Filter" isOpen={isOpen} onClose={close}>
        <div class="list-facets">
          <Rail all={all} left={left} terms={terms} onToggle={toggle} />
        </div>
        <div class="actions">
          <button type="button" class="primary" onClick={close}>
            Show {formatCount(matching, "row")}
          </button>
        </div>
      </Dialog>
    </>
  );
};

type Props = SheetProps & { readonly children: ComponentChildren };

/** The chosen filters, each with a button that removes it, the search, and `children`. */
export const Toolbar = ({ children, ...sheet }: Props) => {
  const { terms, text, typed, search, toggle, clear } = sheet.chosen;
  return (
    <div class="list-toolbar">
      <FilterSheet {...sheet} />
      <input
        type="search"
        aria-label="Search addresses"
        placeholder="Search addresses"
        autocomplete="off"
        spellcheck={false}
        maxLength={254}
        value={typed}
        onInput={(event) => search(event.currentTarget.value)}
      />
      <div class="list-chips">
        {terms.map((term) => (
          <button
            type="button"
            class="chip"
            key={term}
            title={term}
            aria-label={`${toTermWords(term)}, remove this filter`}
            onClick={() => toggle(term)}
          >
            {toTermWords(term)} <span aria-hidden="true">×</span>
          </button>
        ))}
        {(terms.length > 0 || text !== "") && (
          <button type="button" class="quiet" onClick={clear}>
            Show all rows
          </button>
        )}
      </div>
      {children}
    </div>
  );
};

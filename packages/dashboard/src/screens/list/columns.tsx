import type { GetJobData, ResultRow } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { formatNumber, formatTime } from "../../format.ts";
import { Icon } from "../../parts/icon.tsx";
import { MenuButton } from "../../parts/menu-button.tsx";
import { toProviderWords, toReasonWords, toStatusWords } from "../../parts/words.ts";
import type { SortColumn } from "./filter.ts";

export type Column = {
  readonly id: string;
  readonly title: string;
  readonly sort?: SortColumn;
  readonly isNumber?: true;
  readonly show: (row: ResultRow) => ComponentChildren;
};

const Status = ({ status }: Pick<ResultRow, "status">) => (
  <span class={`status is-${status}`}>{toStatusWords(status)}</span>
);

const OURS: readonly Column[] = [
  {
    id: "row",
    title: "Row",
    sort: "row",
    isNumber: true,
    show: ({ row }) => formatNumber(row),
  },
  { id: "email", title: "Address", sort: "email", show: ({ email }) => email },
  {
    id: "status",
    title: "Status",
    sort: "status",
    show: ({ status }) => <Status status={status} />,
  },
  {
    id: "reason",
    title: "Why",
    show: ({ reason }) => <span title={reason}>{toReasonWords(reason)}</span>,
  },
  {
    id: "score",
    title: "Score",
    sort: "score",
    isNumber: true,
    show: ({ quality_score }) => quality_score,
  },
  {
    id: "provider",
    title: "Provider",
    show: ({ provider }) => (provider === null ? "" : toProviderWords(provider)),
  },
  { id: "sub_status", title: "Sub-status", show: ({ sub_status }) => sub_status ?? "" },
  { id: "name", title: "Name found", show: ({ enrichment }) => enrichment.full_name },
  { id: "suggestion", title: "Suggestion", show: ({ ai }) => ai?.typo_suggestion ?? "" },
  { id: "verified_at", title: "Verified", show: ({ verified_at }) => formatTime(verified_at) },
];

export const ALWAYS = "email";

/** The minimum widths, as in `list.css`: in a narrower window the table scrolls sideways. */
const WIDTHS_PX: Readonly<Record<string, number>> = {
  row: 60,
  email: 168,
  status: 104,
  reason: 184,
  score: 68,
};
const WIDTH_PX = 100;

export const getWidthPx = (columns: readonly Pick<Column, "id">[]): number =>
  columns.reduce((sum, { id }) => sum + (WIDTHS_PX[id] ?? WIDTH_PX), 0);

const FIRST = ["email", "status", "reason", "row", "score"];
const OWN_MAX = 4;

const NAVIGATION = { from: 900, px: 256 };
const RAIL_PX = 268;
const PADDING_PX = 34;
const hasRail = () =>
  !matchMedia("(max-width: 767px), (min-width: 900px) and (max-width: 1059px)").matches;

const getRoomPx = (): number =>
  innerWidth -
  PADDING_PX -
  (innerWidth >= NAVIGATION.from ? NAVIGATION.px : 0) -
  (hasRail() ? RAIL_PX : 0);

export type ListRows = Pick<GetJobData, "columns" | "results">;

const toOwnColumn = (name: string, at: number): Column => ({
  id: `own:${name}`,
  title: name,
  show: ({ cells }) => cells?.[at] ?? "",
});

const listOwn = ({ columns = [], results = [] }: ListRows): readonly Column[] =>
  columns
    .map(toOwnColumn)
    .filter((_, at) => results[0]?.cells?.[at]?.trim().toLowerCase() !== results[0]?.email);

export const listColumns = (page: ListRows): readonly Column[] => [...OURS, ...listOwn(page)];

/** Returns the ids of the columns that fit: they are shown until a person chooses. */
export const listFirstColumns = (columns: readonly Column[]): readonly string[] => {
  const own = columns.slice(OURS.length, OURS.length + OWN_MAX);
  const wanted = [...FIRST.map((id) => ({ id })), ...own];
  const room = getRoomPx();
  const end = wanted.findIndex((_, at) => getWidthPx(wanted.slice(0, at + 1)) > room);
  return wanted.slice(0, end < 0 ? wanted.length : end).map(({ id }) => id);
};

type ChoiceProps = {
  readonly columns: readonly Column[];
  readonly shown: readonly string[];
  readonly onChange: (shown: readonly string[]) => void;
};

export const ColumnChoice = ({ columns, shown, onChange }: ChoiceProps) => (
  <MenuButton
    class="list-tool"
    label={
      <>
        Columns
        <Icon name="down" />
      </>
    }
  >
    {() => (
      <fieldset class="choice list-columns">
        <legend class="unseen">Columns of the table</legend>
        {columns
          .filter(({ id }) => id !== ALWAYS)
          .map(({ id, title }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={shown.includes(id)}
                onChange={() =>
                  onChange(shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id])
                }
              />
              {title}
            </label>
          ))}
      </fieldset>
    )}
  </MenuButton>
);

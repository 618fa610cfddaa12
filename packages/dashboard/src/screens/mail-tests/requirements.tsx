import { type Column, RowTable } from "../../parts/row-table.tsx";
import type { MessageReport } from "./mail-test.ts";

type Requirement = MessageReport["requirements"][number];
type Receiver = Requirement["receivers"][number];

const RECEIVERS: Readonly<Record<Receiver, string>> = {
  gmail: "Gmail",
  yahoo: "Yahoo",
  microsoft: "Microsoft",
};

/** An unknown result is never red. */
const WORDS: Readonly<
  Record<Requirement["status"], { readonly word: string; readonly tone: string }>
> = {
  met: { word: "met", tone: "good" },
  unmet: { word: "not met", tone: "bad" },
  unknown: { word: "not measured", tone: "grey" },
};

const COLUMNS: readonly Column<Requirement>[] = [
  {
    title: "Requirement",
    isHeader: true,
    cell: ({ text, bulk_only: isForBulk }) => (
      <>
        {text}
        {isForBulk && <small>Bulk senders only</small>}
      </>
    ),
  },
  ...Object.entries(RECEIVERS).map(
    ([receiver, title]): Column<Requirement> => ({
      title,
      cell: ({ receivers, status }) =>
        receivers.includes(receiver as Receiver) ? (
          <b class={WORDS[status].tone}>{WORDS[status].word}</b>
        ) : (
          <span class="soft">not required</span>
        ),
    }),
  ),
];

export const Requirements = ({
  requirements,
}: {
  readonly requirements: readonly Requirement[];
}) => (
  <section class="panel wide requirements" aria-labelledby="requirements">
    <h2 id="requirements">What receivers require</h2>
    <RowTable
      label="Requirements by receiver"
      columns={COLUMNS}
      rows={requirements}
      getKey={({ id }) => id}
    />
    <p class="soft">Bulk senders send more than about 5,000 messages a day to one receiver.</p>
  </section>
);

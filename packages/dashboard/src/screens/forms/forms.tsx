import type { GetUsageData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatDay, formatNumber } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { PeriodTabs, readPeriod } from "../../parts/period.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { getClient, may } from "../../session.ts";

type Form = GetUsageData["totals"]["forms"][number];

/** The outcomes of a form for an address, in the words of the form's owner. */
const CLASSES = [
  { name: "go", title: "Taken", tone: "is-valid" },
  { name: "ask", title: "Asked to check", tone: "is-risky" },
  { name: "no", title: "Refused", tone: "is-invalid" },
] as const;

const countAll = ({ go, ask, no }: Form): number => go + ask + no;

const add = (forms: readonly Form[], toNumber: (form: Form) => number): number =>
  forms.reduce((sum, form) => sum + toNumber(form), 0);

const DAY_MS = 86_400_000;

const toEarlier = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);

/** Reads the period, and the one before it for the chart. A key that may not list keys sees ids in place of names. */
const useForms = ({ days, from, to }: ReturnType<typeof readPeriod>) =>
  useLoad(
    async (signal) => {
      const client = getClient();
      const before = { from: toEarlier(from, days), to: toEarlier(from, 1) };
      const [usage, earlier, keys] = await Promise.all([
        client.getUsage({ from, to }, { signal }),
        client.getUsage(before, { signal }),
        may("owner") ? client.listApiKeys({ signal }).catch(() => undefined) : null,
      ]);
      const names = new Map(keys?.api_keys.map(({ key_id, name }) => [key_id, name]));
      return { usage, earlier: earlier.days, names };
    },
    [from, to],
  );

const toColumns = (names: ReadonlyMap<string, string>): readonly Column<Form>[] => [
  { title: "Page", isHeader: true, cell: ({ origin }) => origin ?? "your back end" },
  {
    title: "Key",
    cell: ({ key_id }) => <a href={toHref(`logs?key=${key_id}`)}>{names.get(key_id) ?? key_id}</a>,
  },
  ...CLASSES.map(({ name, title }) => ({
    title,
    isNumber: true as const,
    cell: (form: Form) => formatNumber(form[name]),
  })),
  { title: "Typos caught", isNumber: true, cell: ({ typos }) => formatNumber(typos) },
];

const NoForms = () => (
  <Empty
    shape="bars"
    action={
      may("owner") && (
        <a class="button primary" href={toHref("settings/api-keys")}>
          Create a public key
        </a>
      )
    }
  >
    No form has asked about an address in this period. A form needs a public key and one line of
    HTML.
  </Empty>
);

type Data = NonNullable<ReturnType<typeof useForms>["data"]>;

const FormData = ({ data: { usage, earlier, names } }: { readonly data: Data }) => {
  const { from, to, days } = usage;
  const forms = usage.totals.forms.toSorted((one, other) => countAll(other) - countAll(one));
  if (forms.length === 0) return <NoForms />;
  const values = [...earlier, ...days].map(
    (day) => [day.date, CLASSES.map(({ name }) => add(day.forms, (form) => form[name]))] as const,
  );
  const getTable = () => ({
    header: ["date", "key_id", "origin", "go", "ask", "no", "typos"],
    rows: days.flatMap(({ date, forms: ofDay }) =>
      ofDay.map(({ key_id, origin = "", go, ask, no, typos }) =>
        [date, key_id, origin].concat([go, ask, no, typos].map(String)),
      ),
    ),
  });
  return (
    <>
      <div class="heading">
        <p class="say">
          Your forms caught{" "}
          {formatCount(
            add(forms, ({ typos }) => typos),
            "typo",
          )}{" "}
          and refused{" "}
          {formatCount(
            add(forms, ({ no }) => no),
            "address",
            "addresses",
          )}
          .
        </p>
        <CsvButton of="Forms per day" fileName={`forms-${from}-${to}`} getTable={getTable} />
      </div>
      <DayChart
        from={from}
        to={to}
        values={new Map(values)}
        series={CLASSES.map(({ title, tone }) => ({ name: title.toLowerCase(), tone }))}
        sum={formatCount(add(forms, countAll), "address", "addresses")}
        what="Addresses"
      />
      <section class="panel" aria-labelledby="by-page">
        <h2 id="by-page">By page and key</h2>
        <RowTable
          label={`Forms since ${formatDay(from)}`}
          columns={toColumns(names)}
          rows={forms}
          getKey={({ key_id, origin = "" }) => `${key_id} ${origin}`}
        />
      </section>
    </>
  );
};

export const Forms = () => {
  const period = readPeriod();
  const load = useForms(period);
  return (
    <Screen
      title="Sign-up forms"
      tabs={<PeriodTabs path="forms" chosen={period.days} />}
      actions={
        <a class="button" href={toHref("lists?kind=single")}>
          Visitors' verifications
        </a>
      }
    >
      <Loaded load={load} what="the forms" as="bars">
        {(data) => <FormData data={data} />}
      </Loaded>
    </Screen>
  );
};

import * as v from "valibot";
import { paginateQuery } from "../lib/paginate-query.ts";
import { DAY_LENGTH, toDayShard, toDayShards } from "../money/items.ts";
import { getOwnerId, type Payer } from "../money/payer.ts";
import type { Table, Write } from "../ports/table.ts";
import { FORM_CLASSES, toFormClass } from "../verify/form-class.ts";

// Layout. The number of addresses that visitors typed, by day, key and page. They count like verdicts: on the day when their
// operation began, in the shard that paid, and in the transaction that answers them, so a repeated request counts once.
//
//   pk                   sk                                    content
//   FORMCOUNTS#<owner>   <yyyy-mm-dd>[#<nn>] <key> <origin>    the addresses of each class, and those with a likely typo

/** The key and the page that an address came from. `origin` is absent when a back end sent the address. */
const FormPage = v.object({ key: v.string(), origin: v.optional(v.string()) });
type FormPage = Readonly<v.InferOutput<typeof FormPage>>;

export const FormVisit = v.object({
  ...FormPage.entries,
  class: v.picklist(FORM_CLASSES),
  isTypo: v.boolean(),
});
export type FormVisit = Readonly<v.InferOutput<typeof FormVisit>>;

export const toFormVisit = (page: FormPage, seen: Parameters<typeof toFormClass>[0]): FormVisit => {
  const { class: formClass, reason } = toFormClass(seen);
  return { ...page, class: formClass, isTypo: reason === "typo" };
};

/** A write for the transaction that answers the visitor. `openedAt`: the start of the operation. */
export const countVisit = (
  payer: Pick<Payer, "account" | "mode"> & { readonly shard: number },
  openedAt: string,
  visit: FormVisit | undefined,
): readonly Write[] => {
  if (!visit) return [];
  const { key, origin, class: formClass, isTypo } = visit;
  const update = {
    pk: toPartition(getOwnerId(payer)),
    sk: `${toDayShard(openedAt, payer.shard)} ${key} ${origin ?? ""}`,
  };
  const add = { [formClass]: 1, ...(isTypo && { typos: 1 }) };
  return [{ update, add, set: { key, origin }, orCreate: true }];
};

const toPartition = (owner: string): string => `FORMCOUNTS#${owner}`;

const COUNTED = [...FORM_CLASSES, "typos"] as const;
export type FormCounts = FormPage & Readonly<Record<(typeof COUNTED)[number], number>>;

const Count = v.optional(v.number(), 0);
const Counts = v.object({
  sk: v.string(),
  ...FormPage.entries,
  ...(Object.fromEntries(COUNTED.map((name) => [name, Count])) as Record<
    (typeof COUNTED)[number],
    typeof Count
  >),
});

/** Lists the counts of each day that has any, oldest first. The range includes both ends. */
export const listFormCounts = async (
  table: Table,
  owner: string,
  range: { readonly from: string; readonly to: string },
): Promise<ReadonlyMap<string, readonly FormCounts[]>> => {
  const days = new Map<string, FormCounts[]>();
  for await (const item of paginateQuery(table, {
    pk: toPartition(owner),
    sk: toDayShards(range),
  })) {
    const { sk, ...counts } = v.parse(Counts, item);
    const day = sk.slice(0, DAY_LENGTH);
    const before = days.get(day);
    if (before) before.push(counts);
    else days.set(day, [counts]);
  }
  return new Map([...days].map(([day, all]) => [day, sumFormCounts(all)]));
};

/** Adds up the counts of each key and page. */
export const sumFormCounts = (all: readonly FormCounts[]): readonly FormCounts[] =>
  [...Map.groupBy(all, ({ key, origin }) => `${key} ${origin ?? ""}`).values()].map(
    (same) => ({ ...same[0], ...addCounts(same) }) as FormCounts,
  );

const addCounts = (all: readonly FormCounts[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    COUNTED.map((name) => [name, all.reduce((sum, counts) => sum + counts[name], 0)]),
  );

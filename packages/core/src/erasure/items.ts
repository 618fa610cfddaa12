import * as v from "valibot";
import { KEY_MODES } from "../money/payer.ts";
import type { Item, Key, PagePosition } from "../ports/table.ts";

// Layout. The erasure of an address under way. The address is encrypted.
//
//   pk               sk       content
//   ERASURE#<hash>   ERASURE  owner, address, and the position in the owner's jobs; due until all jobs are searched;
//                             releasedToken: the token of the process that has ended its search for now

/** The names under which the erased counts are stored. */
const ERASED_KINDS = [
  "cachedResults",
  "responses",
  "activityRecords",
  "verdicts",
  "mailTests",
  "jobRows",
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

export type ErasedCounts = Readonly<Record<ErasedKind, number>>;

export const countErased = (count: (kind: ErasedKind) => number): ErasedCounts =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, count(kind)])) as ErasedCounts;

const Erasure = v.object({
  id: v.string(),
  account: v.string(),
  mode: v.picklist(KEY_MODES),
  address: v.string(),
  ...v.entriesFromList(ERASED_KINDS, v.optional(v.number(), 0)),
  after: v.optional(v.custom<PagePosition>((value) => typeof value === "string")),
  isListRead: v.optional(v.boolean(), false),
  /** The jobs that contain the address and were open. */
  openJobs: v.optional(v.pipe(v.array(v.string()), v.readonly()), []),
});

export type Erasure = Readonly<v.InferOutput<typeof Erasure>>;

export const toErasureKey = (id: string): Key => ({ pk: `ERASURE#${id}`, sk: "ERASURE" });
export const readErasure = (item: Item): Erasure => v.parse(Erasure, item);

import type { Table, Write } from "@mailproof/core/ports/table";
import { getItemKey } from "@mailproof/core/ports/writes";
import { listGrants, type Need, type ResourcePart } from "../../infra/iam.ts";

// The rights of a Lambda, decided as IAM does.

/** A request as IAM decides on it. */
export type AwsCall = {
  /** As IAM names it: dynamodb:GetItem. */
  readonly action: string;
  readonly parts: readonly ResourcePart[];
  /** Null for a call that concerns no queue. */
  readonly queue: string | null;
  /** Null for a call that concerns no single partition of the table. */
  readonly partition: string | null;
};

export const createRole =
  ({ needs }: { readonly needs: readonly Need[] }, ownQueue: string | null) =>
  ({ action, parts, queue, partition }: AwsCall): boolean =>
    listGrants(needs).some(
      ({ actions, on, partitions = ["*"] }) =>
        actions.includes(action) &&
        partitions.some((pattern) => matchesPattern(partition ?? "", pattern)) &&
        on.some((part) =>
          part === "own queue" ? queue !== null && queue === ownQueue : parts.includes(part),
        ),
    );

/** A star at the end stands for anything. */
const matchesPattern = (text: string, pattern: string): boolean =>
  pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;

const toAction = (write: Write): string => {
  if ("check" in write || "checkAbsent" in write) return "ConditionCheckItem";
  if ("remove" in write) return "DeleteItem";
  return "update" in write ? "UpdateItem" : "PutItem";
};

/** The table as this Lambda reaches it: a call that its role does not allow fails. */
export const limitTable = (table: Table, lambda: { readonly needs: readonly Need[] }): Table => {
  const role = createRole(lambda, null);
  const demand = (name: string, partition: string, part: ResourcePart = "table"): void => {
    const call = { action: `dynamodb:${name}`, parts: [part], queue: null, partition };
    if (!role(call)) throw new Error(`the role does not allow ${name} of ${partition}`);
  };
  const demandWrite = (write: Write): void => demand(toAction(write), getItemKey(write).pk);
  return {
    ...table,
    get: async (key) => {
      demand("GetItem", key.pk);
      return table.get(key);
    },
    query: async (query) => {
      demand("Query", query.pk, query.index && `${query.index} index`);
      return table.query(query);
    },
    write: async (write) => {
      demandWrite(write);
      return table.write(write);
    },
    transact: async (writes, ...others) => {
      writes.forEach(demandWrite);
      return table.transact(writes, ...others);
    },
  };
};

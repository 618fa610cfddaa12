import type { ListRequestsInput } from "@mailproof/client";
import { query } from "../../router.ts";

type StatusClass = NonNullable<ListRequestsInput["status"]>;

export const STATUSES = ["2xx", "4xx", "5xx"] as const satisfies readonly StatusClass[];

export type LogFilter = Pick<ListRequestsInput, "status" | "q" | "key_id">;

export const readFilter = (): LogFilter => {
  const read = (name: string) => query.value.get(name) || undefined;
  const status = STATUSES.find((one) => one === read("status"));
  const [q, key] = [read("q"), read("key")];
  return {
    ...(status !== undefined && { status }),
    ...(q !== undefined && { q }),
    ...(key !== undefined && { key_id: key }),
  };
};

type Name = "status" | "q" | "key" | "request";

/** Returns the screen with changes in its query: an empty value removes its name. */
export const toLogs = (changes: Partial<Record<Name, string>>): string => {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes))
    if (value === "") next.delete(name);
    else next.set(name, value);
  // A query may contain a slash, and such a link is easier to read.
  const text = next.toString().replaceAll("%2F", "/");
  return text === "" ? "logs" : `logs?${text}`;
};

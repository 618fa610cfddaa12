import { createHash } from "node:crypto";
import type { Json } from "../ports/table.ts";

/**
 * A hash of a value for keys and comparisons: of fixed length, without personal data, and independent of the order of fields.
 * Undefined fields do not count.
 */
export const fingerprint = (value: Json): string =>
  createHash("sha256").update(canonicalise(value)).digest("base64url");

/** JSON with sorted fields and no spaces, as RFC 8785 defines it. */
export const canonicalise = (value: Json | undefined): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (isList(value)) return `[${value.map(canonicalise).join(",")}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalise(field)}`);
  return `{${fields.join(",")}}`;
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

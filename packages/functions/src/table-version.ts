import type { Table } from "@mailproof/core/ports/table";

// Lambdas of two releases run side by side during a deployment, so codecs read what both write, and no Lambda
// asks for the version. An operator's command does: before a rollback it says whether the older release can read the table.

/** A release raises the version when an earlier release would misread its items. */
export const TABLE_VERSION = 1;

const KEY = { pk: "STATE", sk: "VERSION" };

/** Reads the version; writes version 1 into a table without one. Refuses the table of a newer release. */
export const readTableVersion = async (
  table: Table,
  newest: number = TABLE_VERSION,
): Promise<number> => {
  const stored = await table.get(KEY);
  const version = Number(stored?.["version"] ?? 1);
  if (version > newest)
    throw new Error(
      `The table was written by a newer Mailproof (${version} > ${newest}). Use that release, or restore the table to a moment before its deployment (docs/operating.md, "Restoring from a backup").`,
    );
  // A refusal means that a concurrent command has written the version.
  if (!stored) await table.write({ create: { ...KEY, version } });
  return version;
};

import type { GetUsageData, ListLedgerEntriesData } from "@mailproof/client";

export type LedgerEntry = ListLedgerEntriesData["entries"][number];

type Operation = GetUsageData["totals"]["by_operation"][number]["operation"];

export const OPERATIONS: Readonly<Record<Operation, string>> = {
  verify: "Single addresses",
  verify_batch: "Batches",
  verify_file: "Files",
  find: "Find",
  deliverability_check: "Domain checks",
  monitor: "Monitors",
  mail_test: "Mail tests",
};

export const MOVEMENTS: Readonly<Record<LedgerEntry["type"], string>> = {
  grant: "Granted",
  clawback: "Taken back",
  charge: "Charged",
  hold: "Held",
  settle: "Settled",
  release: "Released",
  refund: "Refunded",
};

export const REASONS: Readonly<Record<NonNullable<LedgerEntry["reason"]>, string>> = {
  opening: "The account was opened",
  granted: "Granted by the operator",
  taken_back: "Taken back by the operator",
  failed: "Failed on our side",
  not_probed: "The mail server was not asked",
  not_reached: "The mail server turned us away",
  cancelled: "The job was cancelled",
  no_mail: "The mail test received no mail",
};

import { createReadStream, statSync } from "node:fs";
import type { PreviewFileData } from "@mailproof/client/types";
import { ingestFile } from "@mailproof/core/intake/ingest";
import { toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import { describeOption, Flag } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { createListError, type ListFile } from "./list-file.ts";
import { formatCount } from "./progress.ts";
import type { Service } from "./service.ts";

// Computes the price of a command without running it. The service's own code reads the list in this process, and only a request for the
// balance is sent.

export const DRY_RUN = {
  "dry-run": describeOption(
    Flag,
    "prints what it would cost, and neither starts nor charges anything",
    {
      short: "n",
    },
  ),
};

export type PricedOperation = keyof typeof PRICES;

type Quote = Partial<PreviewFileData["compared"]> & {
  readonly changed?: number;
  readonly credits_needed: number;
  readonly credits_available: number | null;
  readonly addresses?: number;
  readonly rows?: number;
  readonly duplicates?: number;
  readonly rows_without_address?: number;
  /** The service whose verdicts the list has, and the addresses that they settle. */
  readonly vendor?: string;
  readonly settled?: number;
};

/** Returns the exit code, which shows whether the account could pay. `service` is null when this process does the work for free. */
export const printQuote = async (
  service: Service | null,
  operation: PricedOperation,
  counts: Omit<Quote, "credits_needed" | "credits_available"> & { readonly operations: number },
  json: boolean,
): Promise<number> => {
  const { operations, ...others } = counts;
  const account = service && (await service.client.getAccount());
  const isFree = account === null || account.key.mode === "test";
  const quote: Quote = {
    credits_needed: isFree ? 0 : toCredits(PRICES[operation]) * operations,
    credits_available: account?.credits.available ?? null,
    ...others,
  };
  const isText = process.stdout.isTTY && !json;
  process.stdout.write(`${isText ? formatQuote(quote, service) : JSON.stringify(quote)}\n`);
  const { credits_needed: needed, credits_available: available } = quote;
  if (available === null || needed <= available) return EXIT_CODES.done.code;
  process.stderr.write(
    `The account has ${formatCount(available)} credits, and this needs ${formatCount(needed)}. Buy credits, or send a shorter list.\n`,
  );
  return EXIT_CODES.noCredits.code;
};

/** Computes the price of a list that continues an earlier list: the service compares both lists. */
export const printComparison = (
  service: Service,
  { compared, changed, unique_emails: addresses }: PreviewFileData,
  json: boolean,
): Promise<number> => {
  const operations = addresses - (compared?.kept ?? 0);
  const counts = { operations, addresses, ...compared, ...(changed !== undefined && { changed }) };
  return printQuote(service, "fileAddress", counts, json);
};

const formatQuote = (quote: Quote, service: Service | null): string => {
  const { credits_needed: needed, credits_available: available, rows } = quote;
  const list =
    rows === undefined
      ? ""
      : `${formatCount(rows)} rows: ${formatCount(quote.addresses ?? 0)} addresses, ${formatCount(quote.duplicates ?? 0)} repeated, ${formatCount(quote.rows_without_address ?? 0)} without an address.\n`;
  const earlier =
    quote.kept === undefined
      ? ""
      : `${formatCount(quote.new ?? 0)} new, ${formatCount(quote.again ?? 0)} verified again, ${formatCount(quote.kept)} kept, ${formatCount(quote.removed ?? 0)} removed.\n`;
  const settled =
    quote.vendor === undefined
      ? ""
      : `${quote.vendor} settled ${formatCount(quote.settled ?? 0)} addresses: --skip-settled leaves them out.\n`;
  if (service === null) return `${list}This process works itself: it costs nothing.`;
  const atMost = needed === 0 ? "" : " Results that are cached cost less.";
  return `${earlier}${list}${settled}At most ${formatCount(needed)} credits of ${formatCount(available ?? 0)}.${atMost}`;
};

/** The limit is for memory: the service's own limits depend on the plan. */
const COUNTED_MAX = 10_000_000;

const discard = async (_key: string, content: AsyncIterable<Uint8Array>) => {
  let bytes = 0;
  for await (const piece of content) bytes += piece.length;
  return { version: "", bytes };
};

export const countList = async (
  { name, path }: ListFile,
  emailColumns: readonly string[] | undefined,
  skipSettled = false,
) => {
  const counted = await ingestFile(
    { blobs: { put: discard }, pause: () => undefined },
    createReadStream(path),
    {
      key: "dry-run",
      addressesMax: COUNTED_MAX,
      bytesMax: statSync(path).size,
      rowsPerChunk: 1_000,
      emailColumns,
      skipSettled,
    },
  );
  if (counted.kind === "fault") throw createListError(name, counted);
  return {
    operations: counted.unique,
    rows: counted.totalSubmitted,
    addresses: counted.unique,
    duplicates: counted.duplicatesRemoved,
    rows_without_address: counted.invalidSkipped,
    ...(counted.format.vendor && { vendor: counted.format.vendor.name, settled: counted.settled }),
  };
};

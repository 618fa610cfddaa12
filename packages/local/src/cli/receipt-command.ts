import { createReadStream } from "node:fs";
import type { ReceiptFault } from "@mailproof/net/receipt-verifier";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import {
  type Comparison,
  compareReceipt,
  type Fields,
  isDeep,
  type Replay,
} from "./compare-receipt.ts";
import { defineCommand, describeOption, Flag, UsageError } from "./define-command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { STANDARD_INPUT } from "./list-file.ts";
import { findServiceUrl, SERVICE } from "./service.ts";
import { replaceControls } from "./terminal.ts";

const RECEIPT_FAULTS: Readonly<Record<ReceiptFault, string>> = {
  not_a_receipt: "This is not a receipt.",
  forged: "Forged or damaged: the key that it names has not signed this text.",
  unknown_key:
    "No key of this set has the id that it names: it is of another service, or SEALING_KEY was another. --keys FILE checks it with a key set that was saved.",
};

const NAME_COLUMNS = 16;

/** Prints the claims of a receipt, a line each; the differences from its answer; and the new judgement of its evidence. */
export const showReceipt = (
  kid: string,
  { iat, ...claims }: Fields,
  { differences, replay }: Comparison,
): string => {
  const rows = Object.entries(claims).map(
    ([name, value]) => `  ${name.padEnd(NAME_COLUMNS)}${toText(value)}`,
  );
  const differs =
    differences.length === 0
      ? []
      : [`The answer is not as the receipt has it: ${differences.join(", ")}.`];
  const lines = [
    `Signed at ${toTime(iat)} by the key ${kid}:`,
    ...rows,
    ...differs,
    ...REPLAYS[replay],
  ];
  return lines.map((line) => `${replaceControls(line)}\n`).join("");
};

/** The keys' owner may have signed any value. */
const toText = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? `${value}` : JSON.stringify(value);

const toTime = (iat: unknown): string => {
  const at = new Date(Number(iat) * 1_000);
  return Number.isNaN(at.getTime()) ? toText(iat) : at.toISOString();
};

const REPLAYS: Readonly<Record<Replay, readonly string[]>> = {
  same: ["Its evidence, judged again, gives the same verdict."],
  different: [
    "This release judges its evidence differently. The receipt says what the service answered then.",
  ],
  none: [],
};

const USAGE = "FILE | - [options]";
/** An answer with its evidence has some 20 KB. */
const FILE_BYTES_MAX = 5_000_000;

/** Checks a receipt, which anyone may do without an API key. */
export const receiptCommand = defineCommand({
  usage: USAGE,
  options: v.strictObject({
    keys: describeOption(
      v.optional(v.string()),
      "checks with the key set in this file, without a call",
      { value: "FILE" },
    ),
    json: describeOption(Flag, "prints the outcome as JSON, also on a terminal"),
    api: SERVICE.api,
    profile: SERVICE.profile,
  }),
  examples: [
    "receipt answer.json",
    "receipt receipt.txt --keys jwks.json",
    "receipt - --api https://api.example.com --json < answer.json",
  ],
  takesWords: true,
  async run(input) {
    const { options, words } = input;
    const { receipt, answer } = readReceipt(await readWord(words));
    const keys = options.keys === undefined ? await fetchKeys(input) : await readKeys(options.keys);
    if (keys === undefined) return EXIT_CODES.unavailable.code;
    const { checkReceipt } = await import("@mailproof/net/receipt-verifier");
    const checked = await checkReceipt(receipt, keys).catch((cause: unknown) => {
      throw new UsageError(`${options.keys ?? "The service"} has no key set (RFC 7517).`, {
        cause,
      });
    });
    const isText = process.stdout.isTTY && !options.json;
    if (checked.kind === "refused" || isDeep(checked.claims)) {
      const fault = checked.kind === "refused" ? checked.fault : "not_a_receipt";
      process.stdout.write(isText ? `${RECEIPT_FAULTS[fault]}\n` : toLine({ valid: false, fault }));
      return EXIT_CODES.noResult.code;
    }
    const { kid, claims } = checked;
    const comparison = compareReceipt(claims, answer);
    process.stdout.write(
      isText
        ? showReceipt(kid, claims, comparison)
        : toLine({ valid: true, kid, receipt: claims, ...comparison }),
    );
    const isSound = comparison.differences.length === 0 && comparison.replay !== "different";
    return isSound ? EXIT_CODES.done.code : EXIT_CODES.noResult.code;
  },
});

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

const readWord = async ([file, ...others]: readonly string[]): Promise<string> => {
  if (file === undefined || others.length > 0)
    throw new UsageError(
      `${file === undefined ? "Missing file" : "One file at a time"}. Usage: ${PROGRAM} receipt ${USAGE}`,
    );
  return file === STANDARD_INPUT ? readStream("The standard input", process.stdin) : readFile(file);
};

const readFile = (file: string): Promise<string> => readStream(file, createReadStream(file));

const readStream = async (name: string, stream: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      bytes += piece.length;
      if (bytes > FILE_BYTES_MAX) break;
      pieces.push(piece);
    }
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new UsageError(`${name} cannot be read (${code}).`);
  }
  if (bytes <= FILE_BYTES_MAX) return Buffer.concat(pieces).toString();
  throw new UsageError(`${name} is over ${FILE_BYTES_MAX} bytes, and no receipt is as long.`);
};

/** Reads a receipt alone, or a receipt in an answer of POST /v1/verify, with or without the answer's envelope. */
const readReceipt = (text: string): { readonly receipt: string; readonly answer: Fields } => {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return { receipt: trimmed, answer: {} };
  const parsed = parseJson(trimmed, "The file is neither a receipt nor JSON.");
  const { data = parsed } = parsed;
  const answer = Object(data) as Fields;
  const { receipt } = answer;
  if (typeof receipt !== "string")
    throw new UsageError("This answer has no receipt: ask for it by options.include_receipt.");
  return { receipt, answer };
};

const parseJson = (text: string, otherwise: string): Fields => {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    throw new UsageError(otherwise);
  }
};

const readKeys = async (file: string): Promise<Fields> =>
  parseJson(await readFile(file), `${file} is not JSON.`);

/** Undefined when the service did not respond; then standard error reports that. */
const fetchKeys = async (input: Parameters<typeof findServiceUrl>[0]): Promise<unknown> => {
  const { url } = findServiceUrl(input);
  if (url === undefined)
    throw new UsageError(
      `Name whose receipt it is: add --api URL or --keys FILE, or run "${PROGRAM} login --api URL".`,
    );
  const { fetchJson } = await import("@mailproof/net/fetch-json");
  const at = `${url.replace(/\/$/, "")}/.well-known/jwks.json`;
  try {
    return (await fetchJson(at)) ?? {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${replaceControls(`The keys cannot be read at ${at}: ${why}.`)}\n`);
    return undefined;
  }
};

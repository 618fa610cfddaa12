import type { ReceiptFault } from "@mailproof/net/receipt-verifier";
import type { Comparison, Fields, Replay } from "./compare-receipt.ts";
import { replaceControls } from "./terminal.ts";

export const RECEIPT_FAULTS: Readonly<Record<ReceiptFault, string>> = {
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

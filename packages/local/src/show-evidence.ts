import type { Evidence } from "@mailproof/core/verify/result";
import { type Paint, shown } from "./terminal.ts";

/** What a verdict rests on, below its line: DNS answers, the SMTP dialogue, the rule, and the score as a sum. */
export const evidenceText = (evidence: Evidence, paint: Paint): string => {
  const { dns, mailHost, ip, transcript, rule, reply, catchAll, score } = evidence;
  const host = mailHost === null ? [] : [`${mailHost}${ip === null ? "" : ` (${ip})`}`];
  const rows: readonly Row[] = [
    ...titled("DNS", dns.map(answerOf)),
    ...titled("Mail host", host),
    ...titled("SMTP", transcript.flatMap(linesOf)),
    ...titled("Rule", rule === null ? [] : [rule]),
    ...titled("Reply", reply === null ? [] : [replyOf(reply)]),
    ...titled("Catch-all", catchAll === "not_tested" ? ["not tested"] : [catchAll]),
    ...titled("Score", [sumOf(score)]),
  ];
  const lines = rows.map(
    ([title, text]) => `  ${paint(title.padEnd(TITLE_COLUMNS), "dim")}${shown(text)}\n`,
  );
  return `${lines.join("")}\n`;
};

type Row = readonly [title: string, text: string];

const TITLE_COLUMNS = 11;

/** The title stands beside the first line only. */
const titled = (title: string, lines: readonly string[]): readonly Row[] =>
  lines.map((line, at) => [at === 0 ? title : "", line]);

const answerOf = ({ type, name, kind, records, count }: Evidence["dns"][number]): string => {
  if (kind !== "ok") return `${type} ${name}: ${kind}`;
  const more = count > records.length ? ` and ${count - records.length} more` : "";
  return `${type} ${name}: ${records.map(recordOf).join(", ")}${more}`;
};

const recordOf = (record: unknown): string =>
  typeof record === "object" && record !== null
    ? Object.values(record).flat().join(" ")
    : String(record);

/** What this process wrote, what the mail server wrote, and what happened to the connection. */
const SIGNS = { client: ">", server: "<", wire: "!" } as const;

/** A reply may have several lines. */
const linesOf = ({ ms, who, text }: Evidence["transcript"][number]): readonly string[] =>
  text.split("\n").map((line, at) => {
    const time = at === 0 ? `${ms} ms` : "";
    return `${time.padStart(8)} ${SIGNS[who]} ${line}`;
  });

const replyOf = ({ code, enhanced, text }: NonNullable<Evidence["reply"]>): string =>
  [code, ...(enhanced ? [enhanced] : []), text.replaceAll("\n", " ")].join(" ");

/** Such as "94 (valid) + 4 (the server accepted it)". */
const sumOf = (parts: Evidence["score"]): string =>
  parts
    .map(({ part, points }, at) => {
      const sign = points < 0 ? "- " : at === 0 ? "" : "+ ";
      return `${sign}${Math.abs(points)} (${part})`;
    })
    .join(" ");

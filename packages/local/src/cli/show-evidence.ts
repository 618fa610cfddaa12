import type { VerificationResult } from "@mailproof/api/schema/verification";
import { type Paint, replaceControls } from "./terminal.ts";

type Evidence = NonNullable<VerificationResult["evidence"]>;

export const formatEvidence = (evidence: Evidence, paint: Paint): string => {
  const { dns, mail_host, ip, transcript, rule, reply, catch_all, bounced_at, score } = evidence;
  const host = mail_host === null ? [] : [`${mail_host}${ip === null ? "" : ` (${ip})`}`];
  const rows: readonly Row[] = [
    ...withTitle("DNS", dns.map(formatAnswer)),
    ...withTitle("Mail host", host),
    ...withTitle("SMTP", transcript.flatMap(toLines)),
    ...withTitle("Rule", rule === null ? [] : [rule]),
    ...withTitle("Reply", reply === null ? [] : [formatReply(reply)]),
    ...withTitle("Catch-all", catch_all === "not_tested" ? ["not tested"] : [catch_all]),
    ...withTitle("Bounced", typeof bounced_at === "string" ? [bounced_at] : []),
    ...withTitle("Score", [formatSum(score)]),
  ];
  const lines = rows.map(
    ([title, text]) => `  ${paint(title.padEnd(TITLE_COLUMNS), "dim")}${replaceControls(text)}\n`,
  );
  return `${lines.join("")}\n`;
};

type Row = readonly [title: string, text: string];

const TITLE_COLUMNS = 11;

const withTitle = (title: string, lines: readonly string[]): readonly Row[] =>
  lines.map((line, at) => [at === 0 ? title : "", line]);

const formatAnswer = ({ type, name, kind, records, count }: Evidence["dns"][number]): string => {
  if (kind !== "ok") return `${type} ${name}: ${kind}`;
  const more = count > records.length ? ` and ${count - records.length} more` : "";
  return `${type} ${name}: ${records.map(formatRecord).join(", ")}${more}`;
};

const formatRecord = (record: unknown): string =>
  typeof record === "object" && record !== null
    ? Object.values(record).flat().join(" ")
    : String(record);

const MARKERS = { client: ">", server: "<", wire: "!" } as const;

const toLines = ({ ms, who, text }: Evidence["transcript"][number]): readonly string[] =>
  text.split("\n").map((line, at) => {
    const time = at === 0 ? `${ms} ms` : "";
    return `${time.padStart(8)} ${MARKERS[who]} ${line}`;
  });

const formatReply = ({ code, enhanced, text }: NonNullable<Evidence["reply"]>): string =>
  [code, ...(enhanced ? [enhanced] : []), text.replaceAll("\n", " ")].join(" ");

const formatSum = (parts: Evidence["score"]): string =>
  parts
    .map(({ part, points }, at) => {
      const sign = points < 0 ? "- " : at === 0 ? "" : "+ ";
      return `${sign}${Math.abs(points)} (${part})`;
    })
    .join(" ");

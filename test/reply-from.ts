import type { Reply } from "../packages/mail/src/smtp/reply.ts";

/** A reply as the parser gives it, from its lines as a server sends them or as one line. */
export const parseReply = (lines: string): Reply => ({
  code: Number(lines.slice(0, 3)),
  enhanced: /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(lines)?.[0] ?? null,
  text: lines
    .split("\n")
    .map((line) => line.replace(/^\d{3}[ -]?(?:[245]\.\d{1,3}\.\d{1,3} ?)?/, ""))
    .join("\n"),
});

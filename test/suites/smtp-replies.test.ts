import { expect, test } from "vitest";
import { classify, type Finding } from "../../packages/mail/src/smtp/classify.ts";
import type { Stage } from "../../packages/mail/src/smtp/reply.ts";
import { parseReply } from "../mail/smtp/play.ts";
import { createDescribe } from "../runner/describe-when.ts";

const RIGHT_PERCENT_MIN = 98;

type Line = {
  readonly id: string;
  readonly reply: string;
  /** Only the first corpus notes it, and there its absence means that the reply has none. */
  readonly enhanced?: string;
  readonly stage?: "banner" | "mail" | "rcpt" | "data" | "any" | "vrfy";
  readonly accept: readonly string[];
};

type Judged = Line & { readonly finding: Finding };

/** Most lines do not say where they were given; they are judged as answers to RCPT. */
const getStage = ({ stage }: Line): Stage | "data" => {
  if (stage === "banner") return "greeting";
  return stage === "mail" || stage === "data" ? stage : "rcpt";
};

const judgeByText = (line: Line): Judged => ({
  ...line,
  finding: classify(parseReply(line.reply), { stage: getStage(line) }),
});

const judgeByNote = (line: Line): Judged => ({
  ...line,
  finding: classify(
    { ...parseReply(line.reply), enhanced: line.enhanced ?? null },
    { stage: getStage(line) },
  ),
});

const readLines = (text: string): Line[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

const testCorpus = (judgeAll: () => Judged[]): void => {
  test(`classify judges at least ${RIGHT_PERCENT_MIN} of 100 replies rightly`, () => {
    const lines = judgeAll();
    const wrong = lines.filter(({ accept, finding }) => !accept.includes(finding.verdict));
    const rightPercent = (100 * (lines.length - wrong.length)) / lines.length;

    console.log(`${lines.length} replies, ${rightPercent.toFixed(1)} % right`);
    for (const { id, reply, finding } of wrong)
      console.log(`  ${id} ${finding.verdict} by ${finding.rule}: ${reply}`);
    expect(rightPercent).toBeGreaterThanOrEqual(RIGHT_PERCENT_MIN);
  });

  test("classify calls no reply invalid that must not be", () => {
    const falselyInvalid = judgeAll().filter(
      ({ accept, finding }) => finding.verdict === "invalid" && !accept.includes("invalid"),
    );

    expect(falselyInvalid.map(({ reply }) => reply)).toEqual([]);
  });
};

createDescribe("smtpReplies", "the corpus of real replies", (readFile) => {
  testCorpus(() => readLines(readFile()).map(judgeByNote));

  test("classify returns the same verdict with the code in the text as with the code noted beside it", () => {
    const differing = readLines(readFile()).filter(
      (line) => judgeByText(line).finding.verdict !== judgeByNote(line).finding.verdict,
    );

    expect(differing.map(({ reply }) => reply)).toEqual([]);
  });
});

createDescribe("moreSmtpReplies", "the second corpus of real replies", (readFile) => {
  testCorpus(() => readLines(readFile()).map(judgeByText));
});

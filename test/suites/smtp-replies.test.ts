import { expect, test } from "vitest";
import { classify, type Finding } from "../../packages/core/src/mail/smtp/classify.ts";
import type { Stage } from "../../packages/core/src/mail/smtp/reply.ts";
import { createDescribe } from "../describe-when.ts";
import { parseReply } from "../reply-from.ts";

const RIGHT_PERCENT_MIN = 97;

type Line = {
  readonly id: string;
  readonly reply: string;
  readonly enhanced?: string;
  readonly stage?: "banner" | "mail" | "rcpt" | "data" | "any" | "vrfy";
  readonly accept: readonly string[];
};

/** Most lines do not say where they were given; they are judged as answers to RCPT. */
const getStage = ({ stage }: Line): Stage | "data" => {
  if (stage === "banner") return "greeting";
  return stage === "mail" || stage === "data" ? stage : "rcpt";
};

const judge = (line: Line): Line & { readonly finding: Finding } => {
  const { enhanced = null } = line;
  return {
    ...line,
    finding: classify({ ...parseReply(line.reply), enhanced }, { stage: getStage(line) }),
  };
};

createDescribe("smtpReplies", "the corpus of real replies", (readFile) => {
  const read = () =>
    readFile()
      .trim()
      .split("\n")
      .map((line) => judge(JSON.parse(line) as Line));

  test(`at least ${RIGHT_PERCENT_MIN} in 100 are judged right`, () => {
    const lines = read();
    const wrong = lines.filter(({ accept, finding }) => !accept.includes(finding.verdict));
    const rightPercent = (100 * (lines.length - wrong.length)) / lines.length;

    console.log(`${lines.length} replies, ${rightPercent.toFixed(1)} % right`);
    for (const { id, reply, finding } of wrong)
      console.log(`  ${id} ${finding.verdict} by ${finding.rule}: ${reply}`);
    expect(rightPercent).toBeGreaterThanOrEqual(RIGHT_PERCENT_MIN);
  });

  test("none is called invalid that must not be", () => {
    const falselyInvalid = read().filter(
      ({ accept, finding }) => finding.verdict === "invalid" && !accept.includes("invalid"),
    );

    expect(falselyInvalid.map(({ reply }) => reply)).toEqual([]);
  });

  test("the enhanced code is found in the text as well as it was noted beside it", () => {
    const differing = read().filter(
      ({ reply, finding, ...line }) =>
        classify(parseReply(reply), { stage: getStage({ reply, ...line }) }).verdict !==
        finding.verdict,
    );

    expect(differing.map(({ reply }) => reply)).toEqual([]);
  });
});

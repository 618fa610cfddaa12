import { classify } from "@mailproof/mail/smtp/classify";
import type { Reply } from "@mailproof/mail/smtp/reply";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import { RULE_FAMILIES } from "@mailproof/mail/smtp/reply-rules/rules";
import { expect, test } from "vitest";
import { createDescribe } from "../../runner/describe-when.ts";

// Goal: a code never sells a mailbox as existing that the words call unknown. Method: each rule that reads only the code
// and finds a mailbox that exists gets every sentence that says there is none.

const read = (text: string): Reply => {
  const [reply] = createReplyReader()(Buffer.from(`${text}\r\n`));
  if (typeof reply !== "object") throw new Error(`no reply: ${text}`);
  return reply;
};

/** A reply without its codes, wherever they stand. */
const toSentence = (reply: string): string =>
  reply.replaceAll(/^\d{3}[ -]|[(]?#?\b\d\.\d{1,3}\.\d{1,3}\b[)]?/gm, "").trim();

/** Standard sentences such as "mailbox unavailable" say it with no code beside them only, and with less confidence. */
const STANDARD_CONFIDENCE = 0.7;

const isAbsence = (sentence: string): boolean => {
  const { reason, confidence } = classify(read(`550 ${sentence}`), { stage: "rcpt" });
  return reason === "mailbox_not_found" && confidence > STANDARD_CONFIDENCE;
};

/** The codes of the rules that read no words and find a mailbox that exists. */
const CODES = RULE_FAMILIES.filter(({ verdict }) => verdict === "risky").flatMap(({ rules }) =>
  Object.entries(rules).flatMap(([id, { text, example }]) => {
    const [, enhanced = ""] = /^\d{3}[ -]\d(\.\d{1,3}\.\d{1,3})/.exec(example) ?? [];
    return text === undefined && enhanced !== "" ? [{ id, code: `550 5${enhanced}` }] : [];
  }),
);

const findContradictions = (sentences: readonly string[]): readonly string[] =>
  sentences.flatMap((sentence) =>
    CODES.filter(
      ({ code }) =>
        classify(read(`${code} ${sentence}`), { stage: "rcpt" }).reason !== "mailbox_not_found",
    ).map(({ id, code }) => `${id}: ${code} ${sentence}`),
  );

test("the words of every rule for an unknown mailbox outrank a code alone", () => {
  const sentences = RULE_FAMILIES.flatMap(({ rules }) =>
    Object.values(rules).map(({ example }) => toSentence(example)),
  ).filter(isAbsence);

  expect(CODES.map(({ id }) => id)).toEqual(["owner_changed_code", "full_code"]);
  expect(sentences.length).toBeGreaterThan(10);
  expect(findContradictions(sentences)).toEqual([]);
});

/** RFC 3463 calls these codes refusals of us, of the sender or of the message: the words then prove nothing about a mailbox. */
const ABOUT_OTHERS = /^5\.(?:1\.[78]|2\.4|5\.3|6\.\d|7\.\d+)$/;

test("a code alone never makes words for an unknown mailbox valid or risky, in any rule", () => {
  const codes = RULE_FAMILIES.flatMap(({ rules }) =>
    Object.values(rules).flatMap(({ text, example }) => {
      const [, enhanced] = /^\d{3}[ -]\d(\.\d{1,3}\.\d{1,3})/.exec(example) ?? [];
      return text === undefined && enhanced !== undefined ? [`5${enhanced}`] : [];
    }),
  );
  const words = ["No such user here", "Empfänger unbekannt", "El usuario no existe", "不存在"];
  const found = [...new Set(codes)].flatMap((code) =>
    words.map((text) => {
      const { verdict } = classify(read(`550 ${code} ${text}`), { stage: "rcpt" });
      return { code, text, verdict };
    }),
  );

  expect(codes.length).toBeGreaterThan(15);
  expect(
    found.filter(
      ({ code, verdict }) =>
        verdict !== "invalid" && !(verdict === "unknown" && ABOUT_OTHERS.test(code)),
    ),
  ).toEqual([]);
});

test("Plesk's refusal with the code of another owner concerns an unknown mailbox", () => {
  const reply = read("550 sorry, no mailbox here by that name. (#5.7.17)");

  expect(classify(reply, { stage: "rcpt" })).toMatchObject({
    verdict: "invalid",
    reason: "mailbox_not_found",
  });
});

for (const file of ["smtpReplies", "moreSmtpReplies"] as const)
  createDescribe(file, `real replies of ${file}`, (readFile) => {
    test("real replies outrank a code alone when they call the mailbox unknown", () => {
      const sentences = readFile()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => (JSON.parse(line) as { readonly reply: string }).reply)
        .filter((reply) => !reply.includes("\n"))
        .map(toSentence)
        .filter(isAbsence);

      expect(sentences.length).toBeGreaterThan(20);
      expect(findContradictions(sentences)).toEqual([]);
    });
  });

import type { Verification } from "@mailproof/core/verify/result";
import { rejectsUnknownRecipients } from "@mailproof/mail/mail-providers";

// A result never contradicts itself: each line is a sentence that holds for every result with evidence.

type Checks = Verification["verification"];

/** What each status says of the checks. A check that is left out may be either. */
const CHECKS_BY_STATUS: Readonly<Record<Verification["status"], Partial<Checks>>> = {
  valid: {
    syntaxValid: true,
    domainExists: true,
    mxFound: true,
    smtpCheck: true,
    mailboxExists: true,
    catchAll: false,
  },
  catch_all: {
    syntaxValid: true,
    domainExists: true,
    mxFound: true,
    smtpCheck: true,
    mailboxExists: false,
    catchAll: true,
  },
  invalid: { mailboxExists: false },
  unknown: { smtpCheck: false, mailboxExists: false },
  risky: { syntaxValid: true, domainExists: true, mxFound: true },
  role: { syntaxValid: true },
  disposable: { syntaxValid: true },
  spam_trap: { syntaxValid: true },
};

const WITHOUT_MAIL = new Set(["null_mx", "no_mail_host", "mx_unroutable"]);

type Statement = {
  readonly sentence: string;
  readonly holds: (result: Verification, firstChoices: readonly string[]) => boolean;
};

const implies = (condition: boolean, consequence: boolean): boolean => !condition || consequence;

const SENTENCES: readonly Statement[] = [
  {
    sentence: "a status implies its checks",
    holds: ({ status, verification }) =>
      Object.entries(CHECKS_BY_STATUS[status]).every(
        ([check, value]) => verification[check as keyof Checks] === value,
      ),
  },
  {
    sentence: "a domain with a mail host exists",
    holds: ({ verification: { mxFound, domainExists } }) => implies(mxFound, domainExists),
  },
  {
    sentence:
      "a mailbox was shown by a mail server, and none of a domain that accepts everybody was",
    holds: ({ verification: { mailboxExists, smtpCheck, catchAll } }) =>
      implies(mailboxExists, smtpCheck && !catchAll),
  },
  {
    sentence: "domain_not_found only where DNS has no such domain",
    holds: ({ reason, subStatus, verification, evidence }) =>
      implies(
        reason === "domain_not_found" || subStatus === "domain_not_found",
        !verification.domainExists && evidence?.mailHost === null && evidence.reply === null,
      ),
  },
  {
    sentence: "a domain that takes no mail exists and has no mail host",
    holds: ({ reason, verification: { domainExists, mxFound } }) =>
      implies(WITHOUT_MAIL.has(reason), domainExists && !mxFound),
  },
  {
    sentence: "mailbox_not_found only with a 5xx about the recipient from a first-choice host",
    holds: ({ status, reason, evidence }, firstChoices) =>
      implies(
        status === "invalid" && reason === "mailbox_not_found",
        (evidence?.reply?.code ?? 0) >= 500 && firstChoices.includes(evidence?.mailHost ?? ""),
      ),
  },
  {
    sentence: "valid only with an acceptance, and where unknown recipients are refused",
    holds: ({ status, email, evidence }) =>
      implies(
        status === "valid",
        Math.floor((evidence?.reply?.code ?? 0) / 100) === 2 &&
          (evidence?.catchAll === "no" ||
            rejectsUnknownRecipients(email.split("@")[1] ?? "", evidence?.mailHost ?? null)),
      ),
  },
  {
    sentence: "catch_all only by a first-choice host that accepted the address",
    holds: ({ status, evidence }, firstChoices) =>
      implies(
        status === "catch_all",
        Math.floor((evidence?.reply?.code ?? 0) / 100) === 2 &&
          firstChoices.includes(evidence?.mailHost ?? ""),
      ),
  },
  {
    sentence: "a domain that accepts everybody has refused no address",
    holds: ({ status, verification, evidence }) =>
      implies(
        verification.catchAll && status === "invalid",
        (evidence?.reply?.code ?? 0) < 400 || evidence?.rule === null,
      ),
  },
];

/** The sentences that do not hold. `firstChoices`: the most preferred mail hosts that answered. */
export const listContradictions = (
  result: Verification,
  firstChoices: readonly string[],
): readonly string[] =>
  SENTENCES.filter(({ holds }) => !holds(result, firstChoices)).map(({ sentence }) => sentence);

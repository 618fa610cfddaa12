import { parseSesMessage } from "@mailproof/core/activity/ses";
import { toBounceKind } from "@mailproof/mail/bounce-kind";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { createSesEvent } from "../things/ses.ts";

test.each(asRows<[string, Parameters<typeof toBounceKind>[0], ReturnType<typeof toBounceKind>]>`
  an unknown user | ${{ type: "hard", diagnostic: "smtp; 550 5.1.1 user unknown" }} | hard
  the reply alone, without a category | ${{ diagnostic: "550-5.1.1 No such user here" }} | hard
  a disabled mailbox that the sender calls soft | ${{ type: "soft", diagnostic: "554 5.2.1 mailbox disabled" }} | hard
  a full mailbox that the sender calls hard | ${{ type: "hard", diagnostic: "552 5.2.2 mailbox full" }} | soft
  a server that is busy | ${{ type: "hard", diagnostic: "451 4.3.0 try again later" }} | soft
  a block of the sender's address | ${{ type: "hard", diagnostic: "554 5.7.1 Your IP address is listed by Spamhaus" }} | null
  spam | ${{ type: "hard", diagnostic: "550 5.7.1 Message rejected as spam" }} | null
  words that no rule knows | ${{ type: "hard", diagnostic: "550 xyzzy" }} | hard
  unknown words without a category | ${{ diagnostic: "550 xyzzy" }} | null
  a category alone | ${{ type: "soft" }} | soft
  a text without a reply | ${{ type: "hard", diagnostic: "Amazon SES has suppressed sending" }} | hard
  an empty report | ${{}} | null
`)("the bounce kind follows from the report: %s", (_, report, kind) => {
  expect(toBounceKind(report)).toBe(kind);
});

const readSesBounce = (bounce: Record<string, string>, diagnosticCode?: string) => {
  const [event] = parseSesMessage(
    createSesEvent(
      "Bounce",
      {},
      {
        bounce: {
          timestamp: "2026-11-20T09:00:03.000Z",
          feedbackId: "f",
          bouncedRecipients: [
            { emailAddress: "ann@x.com", ...(diagnosticCode !== undefined && { diagnosticCode }) },
          ],
          ...bounce,
        },
      },
    ),
  ).events;
  return toBounceKind(event?.bounce ?? {});
};

test.each([
  ["Permanent", "General", "smtp; 550 5.1.1 user unknown", "hard"],
  ["Permanent", "NoEmail", undefined, "hard"],
  ["Permanent", "General", "smtp; 550 5.7.1 blocked using Spamhaus", null],
  ["Permanent", "Suppressed", "Amazon SES has suppressed sending to this address", null],
  ["Permanent", "OnAccountSuppressionList", undefined, null],
  ["Transient", "MailboxFull", undefined, "soft"],
  ["Transient", "ContentRejected", "smtp; 554 5.6.0 content", null],
  ["Undetermined", "Undetermined", undefined, null],
])(
  "the kind of a bounce of SES follows from its fields: %s, %s, %s",
  (bounceType, bounceSubType, diagnostic, kind) => {
    expect(readSesBounce({ bounceType, bounceSubType }, diagnostic)).toBe(kind);
  },
);

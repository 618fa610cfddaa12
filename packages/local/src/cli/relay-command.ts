import { randomUUID } from "node:crypto";
import { toOutgoingMail } from "@mailproof/core/mails/render";
import { createMailer } from "@mailproof/net/mailer";
import * as v from "valibot";
import { PROGRAM } from "../installation.ts";
import { definePrinted } from "./define-admin.ts";
import { UsageError } from "./define-command.ts";

const LETTER = {
  subject: "Test of the mails of Mailproof",
  blocks: [`You asked for this mail with ${PROGRAM} admin mail test.`, "The relay works."],
  screen: "",
};

export const relayCommands = {
  "admin mail test": definePrinted(
    { usage: "ADDRESS", options: v.strictObject({}), takesWords: true },
    async ({ environment: { SMTP_URL, MAIL_FROM, PUBLIC_URL }, words: [to = "", ...others] }) => {
      if (!SMTP_URL || !MAIL_FROM) throw new UsageError("Set SMTP_URL, MAIL_FROM and PUBLIC_URL.");
      const links = { url: `${PUBLIC_URL}/app/`, why: "An operator sent it.", end: null };
      const envelope = { from: MAIL_FROM, to, date: new Date() };
      const mail = toOutgoingMail({ id: `test_${randomUUID()}` }, LETTER, links, envelope);
      if (!mail || others.length > 0)
        throw new UsageError(`Name one email address: ${PROGRAM} admin mail test ADDRESS`);
      const { kind, reply } = await createMailer(SMTP_URL).send(mail);
      const { from, messageId } = mail;
      const output = {
        ok: kind === "sent",
        relay: reply,
        from,
        to: mail.to,
        message_id: messageId,
      };
      return { output, exitCode: kind === "sent" ? 0 : 1 };
    },
  ),
};

import { isAddress, parseAddress, toSmtpForm } from "@mailproof/mail/address";
import type { OutgoingMail } from "../ports/mailer.ts";
import type { Letter, Mail } from "../webhooks/mail-items.ts";

type Links = {
  /** Where the letter leads. */
  readonly url: string;
  /** Why the recipient gets it. */
  readonly why: string;
  /** The page, and the URL for mail programs, where the recipient ends all mails. Null for an invitation. */
  readonly end: { readonly page: string; readonly oneClick: string } | null;
};

/** Writes a letter as text and as HTML without pictures. Both say the same. */
const renderLetter = ({ blocks }: Letter, { url, why, end }: Links) => {
  const foot = end ? `${why} To get no more mails: ${end.page}` : why;
  const text = [
    ...blocks.map((block) =>
      typeof block === "string" ? block : block.map((line) => `- ${line}`).join("\n"),
    ),
    url,
    `-- \n${foot}`,
  ].join("\n\n");
  const html = [
    '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Mailproof</title></head>\n<body>',
    ...blocks.map((block) =>
      typeof block === "string"
        ? `<p>${escape(block)}</p>`
        : `<ul>\n${block.map((line) => `<li>${escape(line)}</li>`).join("\n")}\n</ul>`,
    ),
    `<p>${link(url, url)}</p>`,
    `<p><small>${escape(why)}${end ? ` ${link(end.page, "Get no more mails")}` : ""}</small></p>`,
    "</body>\n</html>",
  ].join("\n");
  return { text: `${text}\n`, html: `${html}\n` };
};

const link = (url: string, text: string): string => `<a href="${escape(url)}">${escape(text)}</a>`;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? "");

type Envelope = { readonly from: string; readonly to: string; readonly date: Date };

/** Undefined when the recipient's address is none. A mail that is sent again has the same Message-ID. */
export const toOutgoingMail = (
  { id }: Pick<Mail, "id">,
  letter: Letter,
  links: Links,
  { from, to, date }: Envelope,
): OutgoingMail | undefined => {
  const address = parseAddress(to);
  if (!isAddress(address)) return undefined;
  const domain = from.slice(from.lastIndexOf("@") + 1);
  return {
    from,
    to: toSmtpForm(address),
    subject: letter.subject,
    ...renderLetter(letter, links),
    messageId: `<${id}@${domain}>`,
    date,
    fields: {
      "Auto-Submitted": "auto-generated",
      ...(links.end && {
        "List-Id": `Mailproof <notices.${domain}>`,
        "List-Unsubscribe": `<${links.end.oneClick}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      }),
    },
  };
};

import * as v from "valibot";
import * as field from "./fields.ts";

export const Unsubscribe = v.object({
  one_click: field.boolean("True when receivers can offer one click (RFC 8058)."),
  https_uri: field.maybeText("The https address. Left out when there is none."),
  mailto_uri: field.maybeText("The mailto address. Left out when there is none."),
  post: field.boolean("True when List-Unsubscribe-Post has the value that RFC 8058 requires."),
  signed: field.maybeBoolean(
    "True when a valid DKIM signature covers both fields. Left out when DNS did not answer.",
  ),
});

export const MessageContent = v.object({
  size_bytes: field.count("Octets of the whole message."),
  html_bytes: field.count("Octets of the HTML text. Gmail shows the first 102,400."),
  html: field.boolean("True when the message has an HTML text."),
  text: field.boolean("True when the message has a plain text."),
  images: field.count("Number of pictures in the HTML."),
  parts: field.objects("The MIME parts, at most 50.", {
    depth: field.count("Depth in the message. 0 for the message itself."),
    type: field.text("The media type."),
    charset: field.maybeText("The character set. Left out when none is named."),
    encoding: field.text("The transfer encoding."),
    bytes: field.count("Octets as sent."),
  }),
  attachments: field.objects("The attached files, at most 50.", {
    filename: field.maybeText("The file's name. Left out when it has none."),
    type: field.text("The media type."),
    bytes: field.count("Octets as sent."),
  }),
  links: field.count("Number of links to pages."),
  link_hosts: field.objects(
    "Where the links lead, at most 50 hosts, the one with most links first.",
    {
      host: field.text("The host."),
      links: field.count("Number of links to it."),
      shortener: field.boolean("True for a public link shortener."),
      plain_http: field.boolean("True when a link to it is not encrypted."),
    },
  ),
});

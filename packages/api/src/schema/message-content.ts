import * as v from "valibot";
import { Count, describe } from "./common.ts";

const Text = v.string();
const Flag = v.boolean();

export const Unsubscribe = v.object({
  one_click: describe(Flag, "True when receivers can offer one click (RFC 8058)."),
  https_uri: describe(v.optional(Text), "The https address. Left out when there is none."),
  mailto_uri: describe(v.optional(Text), "The mailto address. Left out when there is none."),
  post: describe(Flag, "True when List-Unsubscribe-Post has the value that RFC 8058 requires."),
  signed: describe(
    v.optional(Flag),
    "True when a valid DKIM signature covers both fields. Left out when DNS did not answer.",
  ),
});

export const MessageContent = v.object({
  size_bytes: describe(Count, "Octets of the whole message."),
  html_bytes: describe(Count, "Octets of the HTML text. Gmail shows the first 102,400."),
  html: describe(Flag, "True when the message has an HTML text."),
  text: describe(Flag, "True when the message has a plain text."),
  images: describe(Count, "Number of pictures in the HTML."),
  parts: describe(
    v.array(
      v.object({
        depth: describe(Count, "Depth in the message. 0 for the message itself."),
        type: describe(Text, "The media type."),
        charset: describe(v.optional(Text), "The character set. Left out when none is named."),
        encoding: describe(Text, "The transfer encoding."),
        bytes: describe(Count, "Octets as sent."),
      }),
    ),
    "The MIME parts, at most 50.",
  ),
  attachments: describe(
    v.array(
      v.object({
        filename: describe(v.optional(Text), "The file's name. Left out when it has none."),
        type: describe(Text, "The media type."),
        bytes: describe(Count, "Octets as sent."),
      }),
    ),
    "The attached files, at most 50.",
  ),
  links: describe(Count, "Number of links to pages."),
  link_hosts: describe(
    v.array(
      v.object({
        host: describe(Text, "The host."),
        links: describe(Count, "Number of links to it."),
        shortener: describe(Flag, "True for a public link shortener."),
        plain_http: describe(Flag, "True when a link to it is not encrypted."),
      }),
    ),
    "Where the links lead, at most 50 hosts, the one with most links first.",
  ),
});

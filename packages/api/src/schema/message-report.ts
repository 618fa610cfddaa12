import { SEVERITIES } from "@mailproof/mail/issue";
import { REPORT_PARTS } from "@mailproof/mail/message/rules/rule";
import * as v from "valibot";
import { describe, Integer } from "./common.ts";
import * as field from "./fields.ts";
import { PROPOSAL_FIELDS } from "./proposed-records.ts";
import { createScoreParts } from "./score-parts.ts";

const Unsubscribe = v.object({
  one_click: field.boolean("True when receivers can offer one click (RFC 8058)."),
  https_uri: field.maybeText("The https address. Left out when there is none."),
  mailto_uri: field.maybeText("The mailto address. Left out when there is none."),
  post: field.boolean("True when List-Unsubscribe-Post has the value that RFC 8058 requires."),
  signed: field.maybeBoolean(
    "True when a valid DKIM signature covers both fields. Left out when DNS did not answer.",
  ),
});

const MessageContent = v.object({
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

const Texts = v.array(v.string());
const Part = v.picklist(REPORT_PARTS);
const SpfResult = v.picklist([
  "none",
  "neutral",
  "pass",
  "fail",
  "softfail",
  "temperror",
  "permerror",
]);

const Alignment = v.object({
  mode: describe(
    v.picklist(["relaxed", "strict"]),
    "The mode that the DMARC record requests. relaxed: the names share an organisation. strict: they are equal.",
  ),
  aligned: field.maybeBoolean(
    "True when the check passed for a name that belongs to the domain of From. Left out when DNS did not answer.",
  ),
  domain: field.maybeText("The aligned name. Left out when there is none."),
});

const Score = v.object({
  score: field.integer("Overall score, 0–100."),
  grade: describe(v.picklist(["A", "B", "C", "D", "F"]), "Grade of the score, A to F."),
  model_version: field.text("Version of the scoring rules."),
  score_parts: createScoreParts(Part),
  missing_parts: describe(
    v.array(Part),
    "Parts that could not be judged because DNS did not answer. They are left out of the score.",
  ),
});

const Envelope = v.object({
  mail_from: field.text("The address of MAIL FROM. Empty for the null reverse-path."),
  helo: field.text("The HELO or EHLO name of the client."),
  ip: field.text("The client's IP address."),
  tls_status: describe(
    v.picklist(["encrypted", "none", "unknown"]),
    "Whether the client encrypted the connection. unknown: the service that received the mail does not tell, and the score ignores it.",
  ),
  tls_version: field.maybeText(
    "TLS version of the connection. Left out unless `tls_status` is `encrypted`.",
  ),
  tls_cipher: field.maybeText(
    "Cipher of the connection. Left out unless `tls_status` is `encrypted`.",
  ),
  received_at: field.text("When the message was received, ISO 8601."),
});

const Header = v.object({
  subject: field.maybeText("The subject. Left out when there is none."),
  from: field.maybeObject("The author. Left out unless there is exactly one author domain.", {
    name: field.text("The display name."),
    address: field.text("The address."),
    domain: field.text("The domain of the address, in A-labels."),
  }),
  sent_at: field.maybeText("The Date field, ISO 8601. Left out without a valid one."),
  message_id: field.maybeText("The Message-ID. Left out when there is none."),
});

const Spf = v.object({
  result: describe(SpfResult, "The SPF result for the message (RFC 7208)."),
  domain: field.text("The domain of the evaluated policy."),
  identity: describe(
    v.picklist(["mailfrom", "helo"]),
    "Where the domain is from. helo: MAIL FROM was empty.",
  ),
  matched: field.objects("The terms that decided: an include, then the term inside it.", {
    domain: field.text("The domain of the record."),
    term: field.text("The term."),
  }),
  problem: field.maybeObject("Left out unless the result is permerror or temperror.", {
    reason: field.text("Why the policy could not be evaluated."),
    domain: field.text("The domain of the record with the fault."),
    term: field.maybeText("The term with the fault. Left out when it is not one term's."),
  }),
  lookups: field.count("DNS look-ups that the evaluation took. The limit is 10."),
  helo_result: describe(SpfResult, "The SPF result for the HELO name on its own."),
});

const Signature = v.object({
  result: describe(
    v.picklist(["pass", "fail", "policy", "neutral", "temperror"]),
    "The result (RFC 8601). policy: valid, but too weak. neutral: the signature or its key cannot be used. temperror: DNS did not answer.",
  ),
  reason: field.maybeText("Why it did not pass, as a code. Left out for a pass."),
  domain: field.maybeText("The signing domain (d=). Left out when it cannot be read."),
  selector: field.maybeText("The selector (s=). Left out when it cannot be read."),
  algorithm: field.maybeText("The algorithm (a=). Left out when it cannot be read."),
  key_bits: field.maybeCount(
    "Length of the RSA key. Left out for other keys, and when there is none.",
  ),
  canonicalization: field.maybeText(
    "How the header and the body were canonicalised, such as relaxed/simple. Left out when it cannot be read.",
  ),
  signed_fields: describe(Texts, "Names of the signed header fields (h=), in lower case."),
  unsigned_bytes: field.count("Octets of the body that the signature does not cover (l=)."),
  testing: field.boolean("True when the key is in test mode (t=y)."),
  signed_at: field.maybeText("When it was made (t=), ISO 8601. Left out when unknown."),
  expires_at: field.maybeText("When it expires (x=), ISO 8601. Left out when never."),
});

const Arc = v.object({
  result: describe(
    v.picklist(["none", "pass", "fail", "temperror"]),
    "The result for the chain (RFC 8617). none: the message has no ARC fields.",
  ),
  reason: field.maybeText("Why the chain is not valid. Left out otherwise."),
  sets: field.objects("The sets of the chain, the oldest first.", {
    instance: field.count("The number of the set, from 1."),
    domain: field.maybeText("The domain that added the set. Left out when unknown."),
    chain: field.maybeText(
      "What that domain found about the earlier sets (cv=). Left out when unknown.",
    ),
  }),
});

const Dmarc = v.object({
  result: describe(
    v.picklist(["pass", "fail", "none", "temperror", "permerror"]),
    "The DMARC result (RFC 9989). none: there is no record. permerror: the message has no single author domain.",
  ),
  domain: field.maybeText("The domain of From. Left out without a single one."),
  organisation: field.maybeText("The organisational domain. Left out when it is not known."),
  record: field.maybeText("The record that applies. Left out when there is none."),
  record_domain: field.maybeText(
    "The domain that publishes the record. Left out when there is none.",
  ),
  policy: describe(
    v.optional(v.picklist(["none", "quarantine", "reject"])),
    "What the record requests for mail that fails. Left out when there is no record.",
  ),
  disposition: describe(
    v.picklist(["none", "quarantine", "reject"]),
    "What a receiver that obeys the record does with this message.",
  ),
  spf: describe(Alignment, "Alignment of SPF."),
  dkim: describe(Alignment, "Alignment of DKIM."),
});

const Server = v.object({
  reverse_dns: field.maybeText(
    "The host name of the client's IP address (PTR). Left out when there is none or it is not known.",
  ),
  reverse_dns_confirmed: field.maybeBoolean(
    "True when that name resolves back to the IP address. Left out when unknown.",
  ),
  helo_kind: describe(
    v.picklist(["name", "literal", "invalid"]),
    "name: a full host name. literal: an IP address in brackets. invalid: neither.",
  ),
  helo_resolves: field.maybeBoolean(
    "True when the HELO name has an address. Left out when unknown.",
  ),
  helo_confirmed: field.maybeBoolean(
    "True when the HELO name resolves to the client's IP address. Left out when unknown.",
  ),
});

const Reputation = v.object({
  blacklists_checked: field.integer("Number of blocklists that returned a verdict."),
  blacklists_listed: field.integer(
    "Number of blocklists that list the IP address or the domain of From.",
  ),
  listed_on: field.objects(
    "The blocklists that list the IP address, the domain of From or a domain that the message links to.",
    {
      id: field.text("The blocklist's id."),
      name: field.text("The blocklist's name."),
      listed: field.text("The domain or IP address that is listed."),
      codes: describe(Texts, "The return codes of the blocklist."),
      says: field.text("What the return codes mean."),
      removal_url: field.text("Where to request removal. Empty when it is not known."),
    },
  ),
});

const Requirement = v.object({
  id: field.text("The requirement's code."),
  text: field.text("The requirement in a sentence."),
  receivers: describe(
    v.array(v.picklist(["gmail", "yahoo", "microsoft"])),
    "The receivers that publish it.",
  ),
  bulk_only: field.boolean("True when it is for bulk senders only."),
  status: describe(
    v.picklist(["met", "unmet", "unknown"]),
    "Whether the message meets it. unknown: DNS did not answer.",
  ),
});

const Finding = v.object({
  id: field.text("The finding's code."),
  part: describe(Part, "The part of the score that it belongs to."),
  severity: describe(v.picklist(SEVERITIES), "How serious it is."),
  message: field.text("The finding in a sentence."),
  advice: field.text("What to do, in a sentence."),
  detail: describe(
    v.record(v.string(), v.union([v.string(), Integer])),
    "Names and numbers that the finding is about.",
  ),
  cost_points: field.count("Points that it costs in the score of its part."),
  points_regained: field.count("Points that the overall score gains when only this is resolved."),
  ...PROPOSAL_FIELDS,
});

export const MessageReportBody = v.object({
  ...Score.entries,
  envelope: describe(Envelope, "What the SMTP session showed."),
  header: describe(Header, "What the header shows."),
  spf: describe(
    v.optional(Spf),
    "The SPF result. Left out when the client's IP address is not known.",
  ),
  dkim: describe(v.array(Signature), "The DKIM signatures, in the order of the message."),
  arc: describe(
    Arc,
    "The chain of systems that forwarded the message. The IETF is moving ARC to Historic (milestone November 2026).",
  ),
  dmarc: describe(Dmarc, "The DMARC result."),
  server: describe(Server, "What DNS has about the sending server."),
  reputation: describe(Reputation, "Results of the blocklists."),
  unsubscribe: describe(Unsubscribe, "How recipients can unsubscribe."),
  content: describe(MessageContent, "What the message consists of."),
  requirements: describe(
    v.array(Requirement),
    "What Gmail, Yahoo and Microsoft require of senders, and whether the message meets it.",
  ),
  findings: describe(
    v.array(Finding),
    "What was found and what to do about it, by the points it regains, most first.",
  ),
});

export type MessageReportBody = v.InferOutput<typeof MessageReportBody>;

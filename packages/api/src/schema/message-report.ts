import { SEVERITIES } from "@mailproof/mail/issue";
import { REPORT_PARTS } from "@mailproof/mail/message/rules/rule";
import * as v from "valibot";
import { Count, describe, Integer } from "./common.ts";
import { MessageContent, Unsubscribe } from "./message-content.ts";
import { PROPOSAL_FIELDS } from "./proposed-records.ts";
import { createScoreParts } from "./score-parts.ts";

const Text = v.string();
const Texts = v.array(v.string());
const Flag = v.boolean();
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
  aligned: describe(
    v.optional(Flag),
    "True when the check passed for a name that belongs to the domain of From. Left out when DNS did not answer.",
  ),
  domain: describe(v.optional(Text), "The aligned name. Left out when there is none."),
});

const Score = v.object({
  score: describe(Integer, "Overall score, 0–100."),
  grade: describe(v.picklist(["A", "B", "C", "D", "F"]), "Grade of the score, A to F."),
  model_version: describe(Text, "Version of the scoring rules."),
  score_parts: createScoreParts(Part),
  missing_parts: describe(
    v.array(Part),
    "Parts that could not be judged because DNS did not answer. They are left out of the score.",
  ),
});

const Envelope = v.object({
  mail_from: describe(Text, "The address of MAIL FROM. Empty for the null reverse-path."),
  helo: describe(Text, "The HELO or EHLO name of the client."),
  ip: describe(Text, "The client's IP address."),
  tls_status: describe(
    v.picklist(["encrypted", "none", "unknown"]),
    "Whether the client encrypted the connection. unknown: the service that received the mail does not tell, and the score ignores it.",
  ),
  tls_version: describe(
    v.optional(Text),
    "TLS version of the connection. Left out unless `tls_status` is `encrypted`.",
  ),
  tls_cipher: describe(
    v.optional(Text),
    "Cipher of the connection. Left out unless `tls_status` is `encrypted`.",
  ),
  received_at: describe(Text, "When the message was received, ISO 8601."),
});

const Header = v.object({
  subject: describe(v.optional(Text), "The subject. Left out when there is none."),
  from: describe(
    v.optional(
      v.object({
        name: describe(Text, "The display name."),
        address: describe(Text, "The address."),
        domain: describe(Text, "The domain of the address, in A-labels."),
      }),
    ),
    "The author. Left out unless there is exactly one author domain.",
  ),
  sent_at: describe(v.optional(Text), "The Date field, ISO 8601. Left out without a valid one."),
  message_id: describe(v.optional(Text), "The Message-ID. Left out when there is none."),
});

const Spf = v.object({
  result: describe(SpfResult, "The SPF result for the message (RFC 7208)."),
  domain: describe(Text, "The domain of the evaluated policy."),
  identity: describe(
    v.picklist(["mailfrom", "helo"]),
    "Where the domain is from. helo: MAIL FROM was empty.",
  ),
  matched: describe(
    v.array(
      v.object({
        domain: describe(Text, "The domain of the record."),
        term: describe(Text, "The term."),
      }),
    ),
    "The terms that decided: an include, then the term inside it.",
  ),
  problem: describe(
    v.optional(
      v.object({
        reason: describe(Text, "Why the policy could not be evaluated."),
        domain: describe(Text, "The domain of the record with the fault."),
        term: describe(
          v.optional(Text),
          "The term with the fault. Left out when it is not one term's.",
        ),
      }),
    ),
    "Left out unless the result is permerror or temperror.",
  ),
  lookups: describe(Count, "DNS look-ups that the evaluation took. The limit is 10."),
  helo_result: describe(SpfResult, "The SPF result for the HELO name on its own."),
});

const Signature = v.object({
  result: describe(
    v.picklist(["pass", "fail", "policy", "neutral", "temperror"]),
    "The result (RFC 8601). policy: valid, but too weak. neutral: the signature or its key cannot be used. temperror: DNS did not answer.",
  ),
  reason: describe(v.optional(Text), "Why it did not pass, as a code. Left out for a pass."),
  domain: describe(v.optional(Text), "The signing domain (d=). Left out when it cannot be read."),
  selector: describe(v.optional(Text), "The selector (s=). Left out when it cannot be read."),
  algorithm: describe(v.optional(Text), "The algorithm (a=). Left out when it cannot be read."),
  key_bits: describe(
    v.optional(Count),
    "Length of the RSA key. Left out for other keys, and when there is none.",
  ),
  canonicalization: describe(
    v.optional(Text),
    "How the header and the body were canonicalised, such as relaxed/simple. Left out when it cannot be read.",
  ),
  signed_fields: describe(Texts, "Names of the signed header fields (h=), in lower case."),
  unsigned_bytes: describe(Count, "Octets of the body that the signature does not cover (l=)."),
  testing: describe(Flag, "True when the key is in test mode (t=y)."),
  signed_at: describe(v.optional(Text), "When it was made (t=), ISO 8601. Left out when unknown."),
  expires_at: describe(v.optional(Text), "When it expires (x=), ISO 8601. Left out when never."),
});

const Arc = v.object({
  result: describe(
    v.picklist(["none", "pass", "fail", "temperror"]),
    "The result for the chain (RFC 8617). none: the message has no ARC fields.",
  ),
  reason: describe(v.optional(Text), "Why the chain is not valid. Left out otherwise."),
  sets: describe(
    v.array(
      v.object({
        instance: describe(Count, "The number of the set, from 1."),
        domain: describe(v.optional(Text), "The domain that added the set. Left out when unknown."),
        chain: describe(
          v.optional(Text),
          "What that domain found about the earlier sets (cv=). Left out when unknown.",
        ),
      }),
    ),
    "The sets of the chain, the oldest first.",
  ),
});

const Dmarc = v.object({
  result: describe(
    v.picklist(["pass", "fail", "none", "temperror", "permerror"]),
    "The DMARC result (RFC 9989). none: there is no record. permerror: the message has no single author domain.",
  ),
  domain: describe(v.optional(Text), "The domain of From. Left out without a single one."),
  organisation: describe(
    v.optional(Text),
    "The organisational domain. Left out when it is not known.",
  ),
  record: describe(v.optional(Text), "The record that applies. Left out when there is none."),
  record_domain: describe(
    v.optional(Text),
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
  reverse_dns: describe(
    v.optional(Text),
    "The host name of the client's IP address (PTR). Left out when there is none or it is not known.",
  ),
  reverse_dns_confirmed: describe(
    v.optional(Flag),
    "True when that name resolves back to the IP address. Left out when unknown.",
  ),
  helo_kind: describe(
    v.picklist(["name", "literal", "invalid"]),
    "name: a full host name. literal: an IP address in brackets. invalid: neither.",
  ),
  helo_resolves: describe(
    v.optional(Flag),
    "True when the HELO name has an address. Left out when unknown.",
  ),
  helo_confirmed: describe(
    v.optional(Flag),
    "True when the HELO name resolves to the client's IP address. Left out when unknown.",
  ),
});

const Reputation = v.object({
  blacklists_checked: describe(Integer, "Number of blocklists that returned a verdict."),
  blacklists_listed: describe(
    Integer,
    "Number of blocklists that list the IP address or the domain of From.",
  ),
  listed_on: describe(
    v.array(
      v.object({
        id: describe(Text, "The blocklist's id."),
        name: describe(Text, "The blocklist's name."),
        listed: describe(Text, "The domain or IP address that is listed."),
        codes: describe(Texts, "The return codes of the blocklist."),
        says: describe(Text, "What the return codes mean."),
        removal_url: describe(Text, "Where to request removal. Empty when it is not known."),
      }),
    ),
    "The blocklists that list the IP address, the domain of From or a domain that the message links to.",
  ),
});

const Requirement = v.object({
  id: describe(Text, "The requirement's code."),
  text: describe(Text, "The requirement in a sentence."),
  receivers: describe(
    v.array(v.picklist(["gmail", "yahoo", "microsoft"])),
    "The receivers that publish it.",
  ),
  bulk_only: describe(Flag, "True when it is for bulk senders only."),
  status: describe(
    v.picklist(["met", "unmet", "unknown"]),
    "Whether the message meets it. unknown: DNS did not answer.",
  ),
});

const Finding = v.object({
  id: describe(Text, "The finding's code."),
  part: describe(Part, "The part of the score that it belongs to."),
  severity: describe(v.picklist(SEVERITIES), "How serious it is."),
  message: describe(Text, "The finding in a sentence."),
  advice: describe(Text, "What to do, in a sentence."),
  detail: describe(
    v.record(v.string(), v.union([v.string(), Integer])),
    "Names and numbers that the finding is about.",
  ),
  cost_points: describe(Count, "Points that it costs in the score of its part."),
  points_regained: describe(
    Count,
    "Points that the overall score gains when only this is resolved.",
  ),
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

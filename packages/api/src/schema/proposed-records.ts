import * as v from "valibot";
import { describe } from "./common.ts";
import * as field from "./fields.ts";

const DNS_RECORD_FIELDS = {
  name: field.text("The whole name, without a final dot."),
  type: describe(v.picklist(["TXT", "MX", "A", "PTR"]), "The record's type."),
  value: field.text("The value, without quotes."),
};

export const DnsRecord = v.object(DNS_RECORD_FIELDS);

export const ProposedDnsRecord = v.object({
  ...DNS_RECORD_FIELDS,
  strings: describe(
    v.optional(v.array(v.string())),
    "The strings of at most 255 characters that make up the value of this one TXT record, for DNS providers that do not split a long value automatically. Left out when one string is enough.",
  ),
  open: describe(
    v.optional(v.array(v.string())),
    "Parts of the name or value, in angle brackets, to fill in: your mail server or mail service knows them. Left out when the record is finished.",
  ),
});

export const PROPOSAL_FIELDS = {
  record: describe(
    v.optional(ProposedDnsRecord),
    "The DNS record to publish. Recommendations about the same record carry the same one, which resolves them all. Left out when no record resolves the issue, or only you know it.",
  ),
  replaces: describe(
    v.optional(v.array(DnsRecord)),
    "The published records to remove with it. Left out when there are none.",
  ),
  record_points: field.maybeCount(
    "Points that the overall score gains by publishing the record, with all that it resolves. Left out where the check cannot measure that.",
  ),
  file: field.maybeObject(
    "A file to publish with the record: the policy of MTA-STS. Left out otherwise.",
    {
      url: field.text("Where to publish the file."),
      content: field.text("Its content, with line ends."),
    },
  ),
  note: field.maybeText("What else to do, in a sentence. Left out when there is nothing."),
};

export const SpfTreeNode = v.object({
  depth: field.count(
    "Depth in the tree. 0 for the domain itself, 1 for what its record includes, and so on.",
  ),
  term: field.maybeText(
    "The include or redirect that refers to this record. Left out for the domain itself.",
  ),
  domain: field.maybeText(
    "The domain of the record. Left out when it is different for each message (a macro).",
  ),
  status: describe(
    v.picklist([
      "record",
      "several",
      "none",
      "nxdomain",
      "servfail",
      "refused",
      "timeout",
      "too_large",
      "internal",
      "unread",
      "loop",
    ]),
    "record: there is one SPF record. several: more than one. none: none. nxdomain: the domain does not exist. loop: it refers back to a record above. unread: it was not looked up. Otherwise why the look-up failed.",
  ),
  record: field.maybeText(
    "The SPF record. Left out when there is none, when it has more than 4,096 characters, and where the same record is earlier in the tree.",
  ),
  lookups: field.count(
    "DNS look-ups of this term and everything below it. For the domain itself: all look-ups of the policy.",
  ),
  own_lookups: field.count("DNS look-ups of only this record's a, mx, ptr and exists terms."),
  address_blocks: field.maybeCount(
    "Number of ip4 and ip6 terms that could replace the term. Left out when it stands for more than address blocks.",
  ),
});

export const FlattenedSpf = v.object({
  ...PROPOSAL_FIELDS,
  includes: field.objects("The includes that were replaced.", {
    include: field.text("The domain that the record no longer includes."),
    address_blocks: field.count("Number of ip4 and ip6 terms in its place."),
  }),
  lookups: field.count("DNS look-ups that evaluating the record takes. The limit is 10."),
  bytes: field.count("Length of the record. Above 450 it may no longer fit into one UDP answer."),
});

export type FlattenedSpf = v.InferOutput<typeof FlattenedSpf>;

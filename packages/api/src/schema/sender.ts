import type { AppWorld } from "@mailproof/core/app-world";
import { selectLookups } from "@mailproof/core/deliverability/sandbox";
import {
  type Domain,
  isDomain,
  parseTypedDomain,
  removeWww,
  toUnicode,
} from "@mailproof/mail/domain";
import { isPublicIp, parseIp } from "@mailproof/mail/ip";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import * as field from "./fields.ts";

const DOMAIN_WORDS = "must be a domain name such as example.com";
const IP_WORDS = "must be an IPv4 address such as 192.0.2.1; leave it out if there is none";

/** A domain as people type it. The value is in A-labels and lower case, so that each domain has one spelling. */
export const DomainName = v.pipe(
  v.string(),
  v.transform(parseTypedDomain),
  v.custom<Domain>((domain) => isDomain(domain as Domain), DOMAIN_WORDS),
  v.transform(({ ascii }) => ascii),
);

const INCLUDES_MAX = 10;

export const DomainNames = v.pipe(
  v.string(),
  v.check(
    (text) => text.split(",").length <= INCLUDES_MAX,
    `must have at most ${INCLUDES_MAX} names`,
  ),
  v.transform((text) => text.split(",").map(parseTypedDomain)),
  v.custom<Domain[]>(
    (names) => (names as Domain[]).every(isDomain),
    "must be domain names with commas between them",
  ),
  v.transform((names) => names.map(({ ascii }) => ascii)),
);

export const DOMAIN_FIELDS = {
  domain: field.text("The domain in lower case, in A-labels (xn--…)."),
  domain_unicode: field.text("The same domain in Unicode."),
};

export const toDomainFields = (domain: string) => ({ domain, domain_unicode: toUnicode(domain) });

/** For a name that starts with www.: it belongs to a website and seldom has mail. */
export const wwwMessage = (domain: string): string | undefined => {
  const mailDomain = removeWww(domain);
  return (
    mailDomain && `${domain} is the name of a website; mail is usually at ${toUnicode(mailDomain)}.`
  );
};

export const SendingIp = v.optional(
  v.pipe(
    v.string(IP_WORDS),
    v.metadata({ format: "ipv4" }),
    v.check((text) => parseIp(text)?.bits === 32, IP_WORDS),
  ),
);

type Sender = { readonly domain: string; readonly sendingIp: string | null };

/** Refuses an IP address that cannot send mail over the internet. The lab and test keys have reserved addresses. */
export const assertPublicSender = (world: AppWorld, { mode }: Caller, sender: Sender): void => {
  const { sendingIp } = sender;
  if (sendingIp === null || isPublicIp(sendingIp, selectLookups(world, mode, sender).allowed))
    return;
  throw invalidField(
    "sending_ip",
    "is a private or reserved address; use the public IPv4 address that sends your mail",
  );
};

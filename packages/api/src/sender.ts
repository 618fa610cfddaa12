import { type Domain, parseDomain } from "@mailproof/core/mail/domain";
import { parseIp } from "@mailproof/core/mail/ip";
import * as v from "valibot";

// What a deliverability check is about, as callers name it.

const DOMAIN_WORDS = "must be a domain name such as example.com";
const IP_WORDS = "must be an IPv4 address such as 192.0.2.1; leave it out if there is none";

/** In A-labels and lower case, so that one domain is one, however it is written. */
export const DomainName = v.pipe(
  v.string(),
  v.transform(parseDomain),
  v.custom<Domain>((domain) => "ascii" in (domain as object), DOMAIN_WORDS),
  v.transform(({ ascii }) => ascii),
);

export const SendingIp = v.optional(
  v.pipe(
    v.string(IP_WORDS),
    v.metadata({ format: "ipv4" }),
    v.check((text) => parseIp(text)?.bits === 32, IP_WORDS),
  ),
);

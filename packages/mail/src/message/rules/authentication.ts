import { critical, high, INFO, low, medium } from "../../issue-rules.ts";
import { inPart } from "./rule.ts";

const SPF = inPart("spf", {
  SPF_NONE: {
    ...high(80),
    message: "{domain} has no SPF record.",
    advice: "Publish an SPF record for {domain} that allows {ip}.",
  },
  SPF_FAIL: {
    ...high(100),
    message: "SPF fails: {domain} does not allow {ip} to send.",
    advice: "Add {ip} to the SPF record of {domain}, or send through a server that it allows.",
  },
  SPF_SOFTFAIL: {
    ...high(70),
    message: "SPF ends in softfail: {domain} does not list {ip} among its senders.",
    advice: "Add {ip} to the SPF record of {domain}, or send through a server that it allows.",
  },
  SPF_NEUTRAL: {
    ...medium(60),
    message: "SPF ends in neutral: the record of {domain} makes no statement about {ip}.",
    advice: "Add {ip} to the SPF record of {domain}, and end the record in ~all or -all.",
  },
  SPF_PERMERROR: {
    ...high(100),
    message: "The SPF record of {domain} is invalid ({problem}), so SPF cannot pass.",
    advice: "Correct the SPF record of {domain}. A check of the domain shows each fault.",
  },
  SPF_UNANSWERED: {
    ...INFO,
    message: "The name servers of {domain} did not answer, so SPF could not be evaluated.",
    advice: "Send another test mail later.",
  },
  SPF_HELO: {
    ...low(5),
    message: "The SPF record of the HELO name {name} does not allow {ip}.",
    advice:
      "Add {ip} to the SPF record of {name}: bounces, which have no sender, are checked by it.",
  },
});

const DKIM = inPart("dkim", {
  DKIM_NONE: {
    ...high(100),
    message: "The message has no DKIM signature.",
    advice:
      "Have your mail server or mail service sign with DKIM for {domain}, with a key of 2048 bits.",
  },
  // The lesser case: another signature is valid.
  DKIM_BODY: {
    ...high(100),
    lesser: low(10),
    message: "The body was changed after {domain} signed it with selector {selector}.",
    advice:
      "Sign last: a mail filter, footer or gateway after the signing server changes the body.",
  },
  DKIM_SIGNATURE: {
    ...high(100),
    lesser: low(10),
    message: "The signature of {domain} with selector {selector} does not match its key.",
    advice:
      "Compare the published key with the one that the server signs with, and sign after the last change of a field.",
  },
  DKIM_KEY_MISSING: {
    ...high(100),
    lesser: low(10),
    message:
      "There is no key at {selector}._domainkey.{domain}, so the signature cannot be verified.",
    advice: "Publish the key of selector {selector}: your mail server or mail service shows it.",
  },
  DKIM_KEY_REVOKED: {
    ...high(100),
    lesser: low(10),
    message: "The key at {selector}._domainkey.{domain} is revoked (its p= is empty).",
    advice: "Sign with a key that is published, or publish this one again.",
  },
  DKIM_KEY_BAD: {
    ...high(100),
    lesser: low(10),
    message: "The key at {selector}._domainkey.{domain} cannot be used: {fault}.",
    advice:
      "Publish the key at {selector} again, as one TXT record: v=DKIM1; k=rsa; p=, and the key.",
  },
  // RFC 8301 §3.2 forbids RSA keys below 1024 bits.
  DKIM_KEY_SHORT: {
    ...critical(100),
    lesser: low(10),
    message:
      "The key of {domain} at selector {selector} has {bits} bits. Receivers take no key below 1024.",
    advice: "Sign with a key of 2048 bits, under a new selector.",
  },
  // RFC 8301 §3.1 forbids rsa-sha1.
  DKIM_SHA1: {
    ...high(100),
    lesser: low(10),
    message: "{domain} signs with rsa-sha1, which receivers must not accept.",
    advice: "Set the signing algorithm to rsa-sha256.",
  },
  DKIM_EXPIRED: {
    ...high(100),
    lesser: low(10),
    message:
      "The signature of {domain} with selector {selector} expired before the message arrived.",
    advice: "Give signatures at least a week (x=), and set the clock of the signing server.",
  },
  DKIM_MALFORMED: {
    ...high(100),
    lesser: low(10),
    message: "A DKIM signature of {domain} cannot be processed: {fault}.",
    advice: "Correct the settings of the server that signs.",
  },
  DKIM_UNANSWERED: {
    ...INFO,
    message: "The name servers of {domain} did not answer, so its signature could not be verified.",
    advice: "Send another test mail later.",
  },
  DKIM_LENGTH: {
    ...high(40),
    lesser: medium(20),
    message:
      "The signature of {domain} has l=, so anyone can add text below the message: {bytes} octets of this one are not signed.",
    advice: "Sign the whole body: remove l= from the settings of the signing server.",
  },
  DKIM_1024: {
    ...medium(15),
    message:
      "The key of {domain} at selector {selector} has {bits} bits, where 2048 are recommended.",
    advice:
      "Replace the key with one of 2048 bits, under a new selector, and remove the old one later.",
  },
  DKIM_TESTING: {
    ...medium(20),
    message:
      "The key of {domain} at selector {selector} is in test mode (t=y): receivers may treat the message as unsigned.",
    advice: "Remove t=y from the key.",
  },
  DKIM_ED25519_ONLY: {
    ...medium(25),
    message: "The only valid signatures are Ed25519, which many receivers cannot verify.",
    advice: "Sign with an RSA key of 2048 bits as well.",
  },
  DKIM_FUTURE: {
    ...low(5),
    message: "The signature of {domain} was made at {time}, after the message arrived.",
    advice: "Set the clock of the signing server.",
  },
  DKIM_FIELDS: {
    ...low(5),
    message: "The valid signatures do not cover these fields: {names}.",
    advice: "Add them to the fields that the signing server signs (h=).",
  },
});

const DMARC = inPart("dmarc", {
  DMARC_FAIL: {
    ...critical(100),
    message:
      "DMARC fails for {domain}: no domain that passed SPF or DKIM belongs to it. Its policy asks receivers to {disposition} the message.",
    advice: "Sign with DKIM as {domain}, or send with a bounce address below it.",
  },
  DMARC_MISSING: {
    ...high(100),
    message:
      "{domain} has no DMARC record, which Gmail, Yahoo and Microsoft require of bulk senders.",
    advice:
      "Publish v=DMARC1; p=none; rua=mailto:... at _dmarc.{domain}, then move to quarantine and reject.",
  },
  DMARC_NO_AUTHOR: {
    ...critical(100),
    message: "DMARC cannot be evaluated: the message does not have exactly one author domain.",
    advice: "Send with one From field and one address in it.",
  },
  DMARC_UNANSWERED: {
    ...INFO,
    message: "DNS did not answer, so it is not known whether DMARC passes.",
    advice: "Send another test mail later.",
  },
  DMARC_NONE: {
    ...low(10),
    message: "The DMARC policy for {domain} is none: receivers deliver forged mail all the same.",
    advice:
      "Once the reports show only your own senders, move to p=quarantine and then to p=reject.",
  },
  // Mail that passes only by SPF fails when it is forwarded.
  DMARC_SPF_ONLY: {
    ...medium(20),
    message: "DMARC passes only by SPF: forwarded copies of the message fail.",
    advice: "Sign with DKIM as {domain}.",
  },
  DMARC_DKIM_ONLY: {
    ...low(5),
    message:
      "DMARC passes only by DKIM: the domain that SPF checked, {name}, is not aligned with {domain}, or did not pass.",
    advice: "Send with a bounce address below {domain}, if your mail service allows that.",
  },
});

const SERVER = inPart("server", {
  TLS_MISSING: {
    ...high(40),
    message: "The message was sent without TLS, which Gmail requires.",
    advice: "Have the server use STARTTLS whenever the receiver offers it.",
  },
  TLS_OLD: {
    ...medium(20),
    message: "The message was sent with {version}, which is no longer secure (RFC 8996).",
    advice: "Have the server use TLS 1.2 or 1.3.",
  },
  HELO_INVALID: {
    ...medium(30),
    message: "The server's HELO is {name}, which is not a full host name.",
    advice: "Set the HELO name of the server to its full host name.",
  },
  HELO_LITERAL: {
    ...low(15),
    message: "The server's HELO is an IP address, {name}, as that of many bots.",
    advice: "Set the HELO name of the server to its full host name.",
  },
  HELO_UNRESOLVED: {
    ...medium(25),
    message: "The HELO name {name} has no address.",
    advice: "Publish an A record for {name}, or set the HELO name to a host name that has one.",
  },
  HELO_MISMATCH: {
    ...low(5),
    message: "The HELO name {name} does not resolve to {ip}.",
    advice: "Point {name} to {ip}, or set the HELO name to a host name that does.",
  },
});

export const AUTHENTICATION_RULES = { ...SPF, ...DKIM, ...DMARC, ...SERVER };

import { critical, high, low, medium } from "../../issue-rules.ts";
import { inPart } from "./rule.ts";

const HEADER = inPart("header", {
  // RFC 5322 §3.6: exactly one.
  FROM_MISSING: {
    ...critical(100),
    message: "The message has no From field with an address.",
    advice: "Send with one From field and one address in it.",
  },
  FROM_SEVERAL: {
    ...critical(100),
    message: "The message has {n} From fields. Gmail and others refuse it.",
    advice: "Send with one From field and one address in it.",
  },
  FROM_MAILBOXES: {
    ...medium(30),
    message: "From names {n} addresses, which many receivers refuse.",
    advice: "Name one address in From.",
  },
  FROM_NAME_ADDRESS: {
    ...medium(25),
    message:
      "The display name in From shows another address, {shown}, than {address}: phishing does that.",
    advice: "Use a name without an address.",
  },
  DATE_MISSING: {
    ...high(40),
    message: "The message has no Date field.",
    advice: "Have the mail program set Date (RFC 5322).",
  },
  DATE_INVALID: {
    ...medium(25),
    message: "The Date field is not a valid date (RFC 5322).",
    advice: "Write Date as in: Mon, 23 Nov 2026 09:30:00 +0000.",
  },
  DATE_FAR: {
    ...medium(20),
    message: "The Date field is {hours} hours from the time of receipt.",
    advice: "Set the clock and the time zone of the server.",
  },
  MESSAGE_ID_MISSING: {
    ...high(40),
    message: "The message has no Message-ID. Gmail refuses such mail.",
    advice: "Have the mail program set Message-ID, unique for each message.",
  },
  MESSAGE_ID_INVALID: {
    ...medium(25),
    message: "The Message-ID is invalid (RFC 5322): it is not <text@domain>.",
    advice: "Write Message-ID as <unique-text@your-domain>.",
  },
  FIELDS_REPEATED: {
    ...high(40),
    message: "These fields may stand once and stand more often: {names}.",
    advice: "Send each only once.",
  },
  RECIPIENT_MISSING: {
    ...low(10),
    message: "The message has neither To nor Cc.",
    advice: "Name the recipient in To.",
  },
  MIME_VERSION_MISSING: {
    ...low(5),
    message: "The message uses MIME fields without MIME-Version.",
    advice: "Add MIME-Version: 1.0.",
  },
  HEADER_EIGHT_BIT: {
    ...low(10),
    message: "The header has bytes beyond ASCII, which older servers damage.",
    advice: "Write names and subjects as encoded words (RFC 2047).",
  },
  HEADER_STRAY: {
    ...medium(25),
    message: "{n} lines of the header are not fields.",
    advice: "Remove them: receivers read them in different ways.",
  },
  UNSUBSCRIBE_MISSING: {
    ...medium(30),
    message: "There is no List-Unsubscribe field, which Gmail and Yahoo require of marketing mail.",
    advice:
      "Add List-Unsubscribe with an https address, and List-Unsubscribe-Post (RFC 8058). Mail about one person's own actions needs neither.",
  },
  UNSUBSCRIBE_NOT_ONE_CLICK: {
    ...medium(20),
    message: "Recipients cannot unsubscribe with one click: {fault}.",
    advice:
      "Add an https address to List-Unsubscribe, and List-Unsubscribe-Post: List-Unsubscribe=One-Click (RFC 8058).",
  },
  UNSUBSCRIBE_UNSIGNED: {
    ...medium(15),
    message:
      "No valid DKIM signature covers both List-Unsubscribe and List-Unsubscribe-Post, so receivers do not offer one click.",
    advice: "Add both fields to those that the signing server signs (h=).",
  },
});

const CONTENT = inPart("content", {
  SUBJECT_MISSING: {
    ...medium(20),
    message: "The message has no subject.",
    advice: "Write a subject.",
  },
  SUBJECT_CAPITALS: {
    ...low(10),
    message: "The subject is in capitals.",
    advice: "Write the subject as a sentence.",
  },
  SUBJECT_MARKS: {
    ...low(5),
    message: "The subject has several exclamation marks in a row.",
    advice: "Use at most one.",
  },
  SUBJECT_FALSE_REPLY: {
    ...medium(20),
    message:
      "The subject looks like a reply, but the message is not one. Microsoft and Yahoo forbid that.",
    advice: "Remove Re: or Fwd: from the subject.",
  },
  BODY_EMPTY: {
    ...medium(30),
    message: "The message has no text.",
    advice: "Write a text: filters mistrust mail that is empty or one picture.",
  },
  TEXT_MISSING: {
    ...low(15),
    message: "The message has HTML without a plain text version.",
    advice: "Add a text/plain part before the HTML (multipart/alternative).",
  },
  HTML_CLIPPED: {
    ...medium(20),
    message:
      "The HTML has {bytes} octets. Gmail shows the first 102,400, and hides the rest with its unsubscribe link.",
    advice: "Shorten the HTML: remove styles and markup that are not used.",
  },
  IMAGES_ONLY: {
    ...medium(25),
    message: "The HTML has hardly any text beside its pictures ({n}).",
    advice: "Write the message as text, and add pictures to it.",
  },
  SCRIPT: {
    ...high(40),
    message: "The HTML has a script, which mail programs remove and filters refuse.",
    advice: "Remove scripts, javascript: links and on… attributes.",
  },
  FORM: {
    ...medium(25),
    message: "The HTML has a form, which most mail programs block.",
    advice: "Link to a page with the form.",
  },
  LINK_MISMATCH: {
    ...high(40),
    message: "A link shows {shown} and leads to {host}, as in phishing.",
    advice:
      "Write link texts that show no address, or track clicks through a host name of your own domain.",
  },
  LINK_PLAIN: {
    ...low(10),
    message: "Links to {names} are not encrypted (http:).",
    advice: "Link to https: addresses.",
  },
  LINK_SHORTENER: {
    ...medium(25),
    message: "Links go through public shorteners: {names}. Spam does so to hide where it leads.",
    advice: "Link to your own domain.",
  },
  LINK_IP: {
    ...high(40),
    message: "Links lead to IP addresses: {names}.",
    advice: "Link to host names.",
  },
  // RFC 5322 §2.1.1 limits a line to 998 characters.
  LINE_LONG: {
    ...medium(15),
    message:
      "A line has {n} octets, and 998 are allowed: servers fold it, which breaks signatures.",
    advice: "Send the part as quoted-printable or base64.",
  },
  LINE_ENDS: {
    ...medium(15),
    message: "{n} lines do not end in CRLF. Many servers refuse such mail.",
    advice: "Send CRLF at the end of each line.",
  },
  CHARSET_UNKNOWN: {
    ...medium(15),
    message: "The character set {names} is not known, so programs may show the text wrongly.",
    advice: "Send text as UTF-8.",
  },
  PARTS_BROKEN: {
    ...high(40),
    message: "The MIME structure is broken: a multipart has no boundary or no part.",
    advice: "Correct the program that makes the message.",
  },
  PARTS_MANY: {
    ...medium(20),
    message: "The message has more parts, or deeper ones, than receivers read.",
    advice: "Send fewer parts.",
  },
  SIZE: {
    ...medium(20),
    message: "The message has {bytes} octets. Many receivers refuse more than 10 MB.",
    advice: "Link to large files instead of attaching them.",
  },
});

const REPUTATION = inPart("reputation", {
  LINK_LISTED: {
    ...critical(60),
    message: "{listed}, which the message links to, is on {list} ({says}).",
    advice: "Remove the link, or ask for removal at {url}.",
  },
});

export const CONTENT_RULES = { ...HEADER, ...CONTENT, ...REPUTATION };

import type { Reply } from "./reply.ts";

/**
 * The words that introduce another server's reply: Postfix and Exim name the host and its address, Exim also writes a line before the
 * reply, Barracuda names the recipient.
 */
const QUOTE_STARTS = [
  /\bhost [^\s[\]]{1,255} ?\[[0-9a-f.:]{2,45}\](?::\d{1,5})?(?: said| refused to talk to me)?: {0,9}(?=[45]\d\d\b)/gi,
  /\b(?:said|replied|answered|responded|returned|reply|response)(?: with| was| from server)?:? {1,9}["'(<]?(?=[45]\d\d[ -])/gi,
  /\bfor one or more recipients:? ?\([^\s()<>@,;:]{1,64}@[^\s()<>@,;:]{1,255}: ?/gi,
  /\bcallout verification failed:\s{1,9}/gi,
];

export type QuotedReply = {
  readonly before: string;
  /** The innermost quotation. Its class is 4 when either server's code has the class 4. */
  readonly reply: Reply;
};

const CODES = /^([45]\d\d)(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})(?!\.?\d))?[ -]*/;

/** Postfix names the refused command. The expected command is RCPT, so only another command carries information. */
const IN_REPLY_TO_RCPT = /\(in reply to RCPT TO command\)/gi;

export const findQuotedReply = (reply: Reply): QuotedReply | null => {
  const starts = QUOTE_STARTS.flatMap((start) => [...reply.text.matchAll(start)]);
  if (reply.code < 400 || starts.length === 0) return null;
  const first = Math.min(...starts.map(({ index }) => index));
  const innermost = Math.max(...starts.map(({ 0: words, index }) => index + words.length));
  return {
    before: reply.text.slice(0, first),
    reply: toReply(reply, reply.text.slice(innermost).replaceAll(IN_REPLY_TO_RCPT, "").trim()),
  };
};

/** The result is permanent only when both replies are: this server may have given up after a temporary reply. */
const toReply = (outer: Reply, quoted: string): Reply => {
  const [codes = "", ownCode, ownEnhanced = null] = CODES.exec(quoted) ?? [];
  if (ownCode === undefined) return { ...outer, text: quoted };
  const code = outer.code < 500 && !ownCode.startsWith("4") ? outer.code : Number(ownCode);
  const isOfClass =
    ownEnhanced?.startsWith(ownCode.slice(0, 1)) === true && code === Number(ownCode);
  return { code, enhanced: isOfClass ? ownEnhanced : null, text: quoted.slice(codes.length) };
};

import type { Reply } from "./reply.ts";
import { QUOTE_STARTS } from "./reply-rules/quotes.ts";

/** A refusal that another mail server gave and this one passes on. */
export type QuotedReply = {
  /** The words before the first quotation: what this server says itself. */
  readonly before: string;
  /** The innermost quotation. Its class is 4 where the class of either server's code is. */
  readonly reply: Reply;
};

const CODES = /^([45]\d\d)(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3})(?!\.?\d))?[ -]*/;

/** Postfix names the command that was refused. RCPT is what it asked about anyway; the others say something. */
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

/** Only two permanent replies make a permanent one: a server may have given up on what another one only deferred. */
const toReply = (outer: Reply, quoted: string): Reply => {
  const [codes = "", ownCode, ownEnhanced = null] = CODES.exec(quoted) ?? [];
  if (ownCode === undefined) return { ...outer, text: quoted };
  const code = outer.code < 500 && !ownCode.startsWith("4") ? outer.code : Number(ownCode);
  const isOfClass =
    ownEnhanced?.startsWith(ownCode.slice(0, 1)) === true && code === Number(ownCode);
  return { code, enhanced: isOfClass ? ownEnhanced : null, text: quoted.slice(codes.length) };
};

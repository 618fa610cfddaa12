import { joinNames } from "../../issue-rules.ts";
import type { MessageBody } from "../content/body.ts";
import type { LinkHost } from "../content/links.ts";
import type { Unsubscribe } from "../content/unsubscribe.ts";
import { createFinding, type MessageFinding, type MessageRuleId } from "../findings.ts";
import type { HeaderSummary } from "../header-summary.ts";
import type { ParsedMessage } from "../parse/message.ts";

type Detail = Parameters<typeof createFinding>[1];

const when = (holds: boolean, id: MessageRuleId, detail: Detail = {}): readonly MessageFinding[] =>
  holds ? [createFinding(id, detail)] : [];

const HOUR_MS = 3_600_000;
/** Date may be this far from the receipt: mail waits in queues, and clocks differ. */
const PAST_HOURS_MAX = 72;
const FUTURE_HOURS_MAX = 2;

const ADDRESS_IN_NAME = /[^\s<>"'(),:;@]{1,64}@[a-z\d][a-z\d.-]{1,250}/i;

export const findHeader = (
  header: HeaderSummary,
  message: Pick<ParsedMessage, "strayLines">,
  unsubscribe: Unsubscribe,
  receivedAt: Date,
): readonly MessageFinding[] => {
  const { from, fromFields, fromMailboxes, date, messageId, repeated } = header;
  const shown = ADDRESS_IN_NAME.exec(from?.name ?? "")?.[0];
  const lateHours =
    date === null ? 0 : Math.round((receivedAt.getTime() - Date.parse(date)) / HOUR_MS);
  const isFar = lateHours > PAST_HOURS_MAX || lateHours < -FUTURE_HOURS_MAX;
  return [
    ...when(fromFields === 0 || fromMailboxes === 0, "FROM_MISSING"),
    ...when(fromFields > 1, "FROM_SEVERAL", { n: fromFields }),
    ...when(fromFields === 1 && fromMailboxes > 1, "FROM_MAILBOXES", { n: fromMailboxes }),
    ...when(
      shown !== undefined && shown.toLowerCase() !== from?.address.toLowerCase(),
      "FROM_NAME_ADDRESS",
      { shown: shown ?? "", address: from?.address ?? "" },
    ),
    ...when(!header.hasDate, "DATE_MISSING"),
    ...when(header.hasDate && date === null, "DATE_INVALID"),
    ...when(isFar, "DATE_FAR", { hours: Math.abs(lateHours) }),
    ...when(messageId === null, "MESSAGE_ID_MISSING"),
    ...when(messageId !== null && !header.isMessageIdValid, "MESSAGE_ID_INVALID"),
    ...when(repeated.length > 0, "FIELDS_REPEATED", { names: joinNames(repeated) }),
    ...when(!header.hasRecipient, "RECIPIENT_MISSING"),
    ...when(header.usesMime && !header.hasMimeVersion, "MIME_VERSION_MISSING"),
    ...when(header.isEightBit, "HEADER_EIGHT_BIT"),
    ...when(message.strayLines > 0, "HEADER_STRAY", { n: message.strayLines }),
    ...findUnsubscribe(unsubscribe),
  ];
};

const findUnsubscribe = (one: Unsubscribe): readonly MessageFinding[] => {
  if (!one.hasField) return [createFinding("UNSUBSCRIBE_MISSING")];
  const fault =
    one.httpsUri === null
      ? "List-Unsubscribe has no https address"
      : !one.hasPost && "there is no List-Unsubscribe-Post: List-Unsubscribe=One-Click";
  if (fault !== false) return [createFinding("UNSUBSCRIBE_NOT_ONE_CLICK", { fault })];
  return when(one.isSigned === false, "UNSUBSCRIBE_UNSIGNED");
};

const HTML_BYTES_MAX = 102_400;
const SIZE_BYTES_MAX = 10_000_000;
/** RFC 5322 §2.1.1 limits a line to 998 characters. */
const LINE_MAX = 998;
const TEXT_LENGTH_MIN = 50;
const CAPITALS_MIN = 8;

export const findContent = (
  header: HeaderSummary,
  message: Pick<ParsedMessage, "sizeBytes" | "longestLine" | "bareLineFeeds" | "bareReturns">,
  body: MessageBody,
): readonly MessageFinding[] => {
  const subject = header.subject ?? "";
  const letters = subject.replaceAll(/\P{L}/gu, "");
  const isCapital = letters.length >= CAPITALS_MIN && letters === letters.toUpperCase();
  const hasCase = letters.toLowerCase() !== letters.toUpperCase();
  const { bareLineFeeds, bareReturns } = message;
  const isReadable = body.unknownCharsets.length === 0 && !body.hasBrokenPart;
  const isEmpty = body.textLength === 0 && isReadable;
  const [shown] = body.links.mismatches;
  return [
    ...when(subject.trim() === "", "SUBJECT_MISSING"),
    ...when(isCapital && hasCase, "SUBJECT_CAPITALS"),
    ...when(/[!！]{2}/.test(subject), "SUBJECT_MARKS"),
    ...when(/^\s*(?:re|fwd?)\s?:/i.test(subject) && !header.isReply, "SUBJECT_FALSE_REPLY"),
    ...when(isEmpty && body.images === 0, "BODY_EMPTY"),
    ...when(body.hasHtml && !body.hasText, "TEXT_MISSING"),
    ...when(body.htmlBytes > HTML_BYTES_MAX, "HTML_CLIPPED", { bytes: body.htmlBytes }),
    ...when(body.images > 0 && body.textLength < TEXT_LENGTH_MIN, "IMAGES_ONLY", {
      n: body.images,
    }),
    ...when(body.hasScript, "SCRIPT"),
    ...when(body.hasForm, "FORM"),
    ...(shown ? [createFinding("LINK_MISMATCH", shown)] : []),
    ...findLinks(body.links.hosts),
    ...when(message.longestLine > LINE_MAX, "LINE_LONG", { n: message.longestLine }),
    ...when(bareLineFeeds + bareReturns > 0, "LINE_ENDS", { n: bareLineFeeds + bareReturns }),
    ...when(body.unknownCharsets.length > 0, "CHARSET_UNKNOWN", {
      names: joinNames(body.unknownCharsets),
    }),
    ...when(body.hasBrokenPart, "PARTS_BROKEN"),
    ...when(body.isCut, "PARTS_MANY"),
    ...when(message.sizeBytes > SIZE_BYTES_MAX, "SIZE", { bytes: message.sizeBytes }),
  ];
};

const findLinks = (hosts: readonly LinkHost[]): readonly MessageFinding[] => {
  const named = (isMeant: (one: LinkHost) => boolean, id: MessageRuleId) => {
    const names = hosts.filter(isMeant).map(({ host }) => host);
    return when(names.length > 0, id, { names: joinNames(names) });
  };
  return [
    ...named(({ isPlain }) => isPlain, "LINK_PLAIN"),
    ...named(({ isShortener }) => isShortener, "LINK_SHORTENER"),
    ...named(({ isIp }) => isIp, "LINK_IP"),
  ];
};

import { DAY_MS } from "../lib/time.ts";
import type { Address } from "../mail/address.ts";
import { findBotReason } from "./bot-filter.ts";

export const MAIL_EVENT_TYPES = [
  "delivery",
  "bounce",
  "complaint",
  "open",
  "click",
  "reject",
  "delivery_delay",
] as const;

export type MailEventType = (typeof MAIL_EVENT_TYPES)[number];

/** What is told about one address. */
export type MailEvent = {
  /** An event is counted once under its id, however often it is told. */
  readonly id: string;
  readonly type: MailEventType;
  readonly address: Address;
  readonly at: Date;
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
  /** Whoever tells it knows that no person was there. */
  readonly isBot?: boolean | undefined;
};

/** What an event adds to. */
export type MailEventKind =
  | Exclude<MailEventType, "reject" | "delivery_delay">
  | "machine"
  | "reject"
  | "delay";

export const toEventKind = (event: MailEvent): MailEventKind => {
  const { type } = event;
  if (type === "delivery_delay") return "delay";
  if (type !== "open" && type !== "click") return type;
  return event.isBot || findBotReason(event) ? "machine" : type;
};

/** Longer than a year, so that somebody who reads one letter each Christmas is still known. */
export const RETENTION_DAYS = 400;

const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** So far clocks may be ahead of ours. */
const SKEW_MS = 15 * 60_000;

export type IgnoredReason = "too_old" | "in_the_future";

/** When it counts as having happened: no event is later than now. Or why it does not count. */
export const getEventTime = ({ at }: Pick<MailEvent, "at">, now: Date): Date | IgnoredReason => {
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs > SKEW_MS) return "in_the_future";
  if (-aheadMs > RETENTION_MS) return "too_old";
  return aheadMs > 0 ? now : at;
};

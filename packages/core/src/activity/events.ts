import type { Address } from "@mailproof/mail/address";
import type { BounceReport } from "@mailproof/mail/bounce-kind";
import { DAY_MS } from "../lib/time.ts";
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

export type MailEvent = {
  /** The service counts an event once per id, however often a source reports it. */
  readonly id: string;
  readonly type: MailEventType;
  readonly address: Address;
  readonly at: Date;
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
  /** The source states that no person opened or clicked. */
  readonly isBot?: boolean | undefined;
  readonly bounce?: BounceReport | undefined;
};

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

/** Longer than a year, so that a recipient who reads one mail each Christmas keeps a record. */
export const RETENTION_DAYS = 400;

const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** The clocks of sources may be this much ahead. */
const SKEW_MS = 15 * 60_000;

export type IgnoredReason = "too_old" | "in_the_future";

/** Returns the event's time, at most now, or the reason to ignore the event. */
export const getEventTime = ({ at }: Pick<MailEvent, "at">, now: Date): Date | IgnoredReason => {
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs > SKEW_MS) return "in_the_future";
  if (-aheadMs > RETENTION_MS) return "too_old";
  return aheadMs > 0 ? now : at;
};

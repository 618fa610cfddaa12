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

/** An event of one address. */
export type MailEvent = {
  /** An event is counted once per id, however often it is reported. */
  readonly id: string;
  readonly type: MailEventType;
  readonly address: Address;
  readonly at: Date;
  readonly deliveredAt?: Date | undefined;
  readonly userAgent?: string | undefined;
  /** The source states that no person opened or clicked. */
  readonly isBot?: boolean | undefined;
  /** What the source says of a bounce. */
  readonly bounce?: BounceReport | undefined;
};

/** The counter of an event. */
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

/** Longer than a year, so that a recipient who reads one mail each Christmas still has a record. */
export const RETENTION_DAYS = 400;

const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** How far clocks of sources may be ahead. */
const SKEW_MS = 15 * 60_000;

export type IgnoredReason = "too_old" | "in_the_future";

/** The time of the event, now at the latest, or why the event is ignored. */
export const getEventTime = ({ at }: Pick<MailEvent, "at">, now: Date): Date | IgnoredReason => {
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs > SKEW_MS) return "in_the_future";
  if (-aheadMs > RETENTION_MS) return "too_old";
  return aheadMs > 0 ? now : at;
};

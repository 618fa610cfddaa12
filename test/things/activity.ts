import type { MailEventType, MailEvent as ReportedEvent } from "@mailproof/core/activity/events";
import type { AppWorld } from "@mailproof/core/app-world";
import { type Address, isAddress, parseAddress } from "@mailproof/mail/address";
import { START } from "../app/given.ts";
import { send, type TestResponse } from "../app/send.ts";

/** Fewer make no group: a domain with fewer has no reputation. */
export const ADDRESSES_MIN = 20;

export const DAY_MS = 86_400_000;

/** So many days before the moment at which tests begin. */
export const daysAgo = (days: number): string =>
  new Date(START.getTime() - days * DAY_MS).toISOString();

export type SentEvent = {
  readonly id: string;
  readonly type: MailEventType;
  readonly email: string;
  readonly occurred_at: string;
  readonly delivered_at?: string;
  readonly user_agent?: string;
  readonly machine?: boolean;
  readonly bounce_type?: "hard" | "soft";
  readonly diagnostic?: string;
};

let made = 0;

/** An event of ann's, with an id of its own. */
export const createEvent = (
  type: MailEventType,
  days: number,
  more: Partial<SentEvent> = {},
): SentEvent => ({
  id: `event-${made++}`,
  type,
  email: "ann@x.com",
  occurred_at: daysAgo(days),
  ...more,
});

export const toAddress = (text: string): Address => {
  const parsed = parseAddress(text);
  if (isAddress(parsed)) return parsed;
  throw new Error(`${text} is no address`);
};

/** The same as the core has it. */
export const toRecordedEvent = (sent: SentEvent): ReportedEvent => ({
  id: sent.id,
  type: sent.type,
  address: toAddress(sent.email),
  at: new Date(sent.occurred_at),
  deliveredAt: sent.delivered_at === undefined ? undefined : new Date(sent.delivered_at),
  userAgent: sent.user_agent,
  isBot: sent.machine,
  bounce: { type: sent.bounce_type, diagnostic: sent.diagnostic },
});

export const whenEventsSent = (
  world: AppWorld,
  key: string,
  ...events: readonly SentEvent[]
): Promise<TestResponse> => send(world, "POST /v1/activity/events", { key, body: { events } });

export const whenActivityRead = (
  world: AppWorld,
  key: string,
  email = "ann@x.com",
): Promise<TestResponse> => send(world, `GET /v1/activity/${encodeURIComponent(email)}`, { key });

import type { EventType, Told as ToldEvent } from "@mailproof/core/activity/events";
import type { AppWorld } from "@mailproof/core/app-world";
import { type Address, isAddress, parseAddress } from "@mailproof/core/mail/address";
import { START } from "./given.ts";
import { send, type Told } from "./send.ts";

export const DAY_MS = 86_400_000;

/** So many days before the moment at which tests begin. */
export const daysAgo = (days: number): string =>
  new Date(START.getTime() - days * DAY_MS).toISOString();

export type Sent = {
  readonly id: string;
  readonly type: EventType;
  readonly email: string;
  readonly occurred_at: string;
  readonly delivered_at?: string;
  readonly user_agent?: string;
  readonly machine?: boolean;
};

let made = 0;

/** An event of ann's, with an id of its own. */
export const anEvent = (type: EventType, days: number, more: Partial<Sent> = {}): Sent => ({
  id: `event-${made++}`,
  type,
  email: "ann@x.com",
  occurred_at: daysAgo(days),
  ...more,
});

export const addressOf = (text: string): Address => {
  const parsed = parseAddress(text);
  if (isAddress(parsed)) return parsed;
  throw new Error(`${text} is no address`);
};

/** The same as the core has it. */
export const toTold = (sent: Sent): ToldEvent => ({
  id: sent.id,
  type: sent.type,
  address: addressOf(sent.email),
  at: new Date(sent.occurred_at),
  deliveredAt: sent.delivered_at === undefined ? undefined : new Date(sent.delivered_at),
  userAgent: sent.user_agent,
  isMachine: sent.machine,
});

export const whenTold = (world: AppWorld, key: string, ...events: readonly Sent[]): Promise<Told> =>
  send(world, "POST /v1/activity/events", { key, body: { events } });

export const whenAsked = (world: AppWorld, key: string, email = "ann@x.com"): Promise<Told> =>
  send(world, `GET /v1/activity/${encodeURIComponent(email)}`, { key });

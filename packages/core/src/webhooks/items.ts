import * as v from "valibot";
import type { Item, Json, Write } from "../table.ts";
import type { World } from "../world.ts";

// Layout. An event is written in the transaction of what it announces, so neither is ever there alone.
//
//   pk          sk     list_pk         list_sk      what
//   EVENT#<id>  EVENT  EVENTS#<owner>  <at>#<id>    what happened, as subscribers are told

export const EVENT_TYPES = [
  "job.completed",
  "job.failed",
  "credits.low",
  "credits.depleted",
  "blacklist.detected",
  "dmarc.failed",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const Event = v.object({
  id: v.string(),
  owner: v.string(),
  type: v.picklist(EVENT_TYPES),
  createdAt: v.string(),
  data: v.record(v.string(), v.unknown()),
  /** Whoever asked to be told of this one thing, besides those who subscribed. */
  callback: v.optional(v.object({ url: v.string(), secret: v.nullable(v.string()) })),
});

export type Event = Readonly<v.InferOutput<typeof Event>>;

const KEPT_SECONDS = 30 * 86_400;

/** The write that makes it known. */
export const announce = (
  world: Pick<World, "now" | "newId">,
  owner: string,
  type: EventType,
  data: Readonly<Record<string, Json>>,
  callback?: Event["callback"],
): Write => {
  const id = world.newId("evt");
  const now = world.now();
  const createdAt = now.toISOString();
  return {
    create: {
      pk: `EVENT#${id}`,
      sk: "EVENT",
      list_pk: eventsOf(owner),
      list_sk: `${createdAt}#${id}`,
      expires_at: Math.floor(now.getTime() / 1000) + KEPT_SECONDS,
      id,
      owner,
      type,
      createdAt,
      data,
      ...(callback && { callback }),
    },
  };
};

export const eventsOf = (owner: string): string => `EVENTS#${owner}`;
export const readEvent = (item: Item): Event => v.parse(Event, item);

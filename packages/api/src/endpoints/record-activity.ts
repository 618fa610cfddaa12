import { EVENT_TYPES, type Told } from "@mailproof/core/activity/events";
import { type Recorded, recordEvents } from "@mailproof/core/activity/record";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { Email } from "../schema/activity.ts";
import {
  Count,
  charactersUpTo,
  KEYED_ERRORS,
  listOf,
  Moment,
  notEmpty,
  optional,
} from "../schema/common.ts";

const EVENTS_MAX = 500;
const ID_LENGTH_MAX = 255;
const AGENT_LENGTH_MAX = 2_000;

const Event = v.strictObject({
  id: v.pipe(v.string(), notEmpty, charactersUpTo(ID_LENGTH_MAX)),
  type: v.picklist(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(", ")}`),
  email: Email,
  occurred_at: Moment,
  delivered_at: optional(Moment),
  user_agent: optional(v.pipe(v.string(), charactersUpTo(AGENT_LENGTH_MAX))),
  machine: optional(v.boolean("must be true or false")),
});

export const recordActivity = endpoint({
  id: "recordActivity",
  route: "POST /v1/activity/events",
  tag: "Activity",
  summary:
    "Tell what became of up to 500 mails. An event counts once under its id, however often it is told.",
  price: null,
  access: "activity:write",
  needs: ["table:readwrite"],
  tool: { effect: "idempotent" },
  repeat: "always",
  answers: [200],
  errors: [...KEYED_ERRORS, "PAYLOAD_TOO_LARGE"],

  // 500 events with the longest id, address and user agent, and what stands around them.
  bodyBytesMax: 2_000_000,
  body: v.strictObject({
    events: v.pipe(listOf(Event, EVENTS_MAX), v.minLength(1, "must have at least one entry")),
  }),
  output: v.object({
    received: Count,
    accepted: Count,
    duplicates: Count,
    ignored: v.array(
      v.object({ id: v.string(), reason: v.picklist(["too_old", "in_the_future"]) }),
    ),
  }),

  async handle(world, caller, { body }) {
    const told = body.events.map(toTold);
    const { accepted, duplicates, ignored } =
      caller.mode === "live"
        ? await recordEvents(world, { account: caller.account, way: "api" }, told)
        : pretended(told);
    const data = { received: told.length, accepted, duplicates, ignored: [...ignored] };
    return { status: 200, data };
  },
});

const toTold = (event: v.InferOutput<typeof Event>): Told => ({
  id: event.id,
  type: event.type,
  address: event.email,
  at: event.occurred_at,
  deliveredAt: event.delivered_at,
  userAgent: event.user_agent,
  isMachine: event.machine,
});

/** Test keys leave nothing behind, so every request is the first one. */
const pretended = (told: readonly Told[]): Recorded => {
  const accepted = new Set(told.map(({ id }) => id)).size;
  return { accepted, duplicates: told.length - accepted, ignored: [] };
};

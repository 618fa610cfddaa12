import { MAIL_EVENT_TYPES, type MailEvent } from "@mailproof/core/activity/events";
import { type RecordResult, recordEvents } from "@mailproof/core/activity/record";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { Email } from "../schema/activity.ts";
import {
  createList,
  describe,
  limitCharacters,
  notEmpty,
  optional,
  Timestamp,
} from "../schema/common.ts";
import * as field from "../schema/fields.ts";

const EVENTS_MAX = 500;
const ID_LENGTH_MAX = 255;
const AGENT_LENGTH_MAX = 2_000;
const DIAGNOSTIC_LENGTH_MAX = 1_000;

const Event = v.strictObject({
  id: describe(
    v.pipe(v.string(), notEmpty, limitCharacters(ID_LENGTH_MAX)),
    "Your id for the event. A repeated id is not counted again.",
  ),
  type: describe(
    v.picklist(MAIL_EVENT_TYPES, `must be one of ${MAIL_EVENT_TYPES.join(", ")}`),
    "What happened.",
  ),
  email: describe(Email, "The recipient of the mail."),
  occurred_at: describe(Timestamp, "When it happened, ISO 8601 with an offset from UTC."),
  delivered_at: describe(optional(Timestamp), "When the mail was delivered, if you know it."),
  user_agent: describe(
    optional(v.pipe(v.string(), limitCharacters(AGENT_LENGTH_MAX))),
    "The User-Agent header of the open or click.",
  ),
  bounce_type: describe(
    optional(v.picklist(["hard", "soft"], "must be hard or soft")),
    "For a bounce: `hard` if the mailbox accepts no mail. It corrects your next verification.",
  ),
  diagnostic: describe(
    optional(v.pipe(v.string(), limitCharacters(DIAGNOSTIC_LENGTH_MAX))),
    "For a bounce: the receiving server's reply. It counts more than `bounce_type`.",
  ),
  machine: describe(
    optional(v.boolean("must be true or false")),
    "Whether software caused the event, if you know it.",
  ),
});

export const recordActivity = endpoint({
  id: "recordActivity",
  route: "POST /v1/activity/events",
  tag: "Activity",
  addition: "The contract does not say where opens and clicks come from: senders report them here.",
  summary: "Record up to 500 events of mail you sent. An event is counted once under its id.",
  access: "activity:write",
  tool: { effect: "idempotent" },
  repeat: "always",
  errors: ["PAYLOAD_TOO_LARGE"],

  // 500 events with the longest id, address, user agent and diagnostic, and the JSON around them.
  bodyBytesMax: 2_500_000,
  body: v.strictObject({
    events: describe(
      v.pipe(createList(Event, EVENTS_MAX), v.minLength(1, "must have at least one entry")),
      "What happened to your mail, up to 500 events.",
    ),
  }),
  output: v.object({
    received: field.count("Number of events in the request."),
    accepted: field.count("Number of events that were counted."),
    duplicates: field.count("Number of events that had been sent before."),
    ignored: field.objects("Events that were not counted.", {
      id: field.text("Your id for the event."),
      reason: describe(v.picklist(["too_old", "in_the_future"]), "Why it was not counted."),
    }),
  }),

  async handle(world, caller, { body }) {
    const events = body.events.map(toMailEvent);
    const { accepted, duplicates, ignored } =
      caller.mode === "live"
        ? await recordEvents(world, { account: caller.account, channel: "api" }, events)
        : countForTestKey(events);
    const data = { received: events.length, accepted, duplicates, ignored: [...ignored] };
    return ok(data);
  },
});

const toMailEvent = (event: v.InferOutput<typeof Event>): MailEvent => ({
  id: event.id,
  type: event.type,
  address: event.email,
  at: event.occurred_at,
  deliveredAt: event.delivered_at,
  userAgent: event.user_agent,
  isBot: event.machine,
  bounce: { type: event.bounce_type, diagnostic: event.diagnostic },
});

/** Test keys store nothing, so every request counts as the first one. */
const countForTestKey = (events: readonly MailEvent[]): RecordResult => {
  const accepted = new Set(events.map(({ id }) => id)).size;
  return { accepted, duplicates: events.length - accepted, ignored: [] };
};

import { signCursor, verifyCursor } from "@mailproof/core/lib/cursor";
import { getOwnerId } from "@mailproof/core/money/payer";
import { poll } from "@mailproof/core/runtime/long-polls";
import {
  type FeedPage,
  type FeedPosition,
  readFeed,
  startFeed,
} from "@mailproof/core/webhooks/event-feed";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { invalidField } from "../http/parse.ts";
import { Cursor, describe, limitUpTo } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { EventName } from "../schema/webhooks.ts";

const LIMIT = { default: 50, most: 100 };
/** Shorter than an HTTP Lambda's timeout (`HTTP_SECONDS` in infra/topology.ts). */
const WAIT_SECONDS_MAX = 25;
const POLL_MS = 1_000;

const WAIT_MESSAGE = `must be a number of seconds from 0 to ${WAIT_SECONDS_MAX}`;
const Wait = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,2}$/, WAIT_MESSAGE),
    v.transform(Number),
    v.maxValue(WAIT_SECONDS_MAX, WAIT_MESSAGE),
    v.metadata({ type: "integer", minimum: 0, maximum: WAIT_SECONDS_MAX, pattern: undefined }),
  ),
  "0",
);

const Event = v.object({
  id: field.text("The event's id, as in the header webhook-id of its deliveries."),
  type: describe(EventName, "The event's type."),
  created_at: field.text("When the event happened, ISO 8601."),
  data: describe(v.record(v.string(), v.unknown()), "The event's data."),
});

export const listEvents = endpoint({
  id: "listEvents",
  route: "GET /v1/events",
  tag: "Webhooks",
  addition: "Callers behind a firewall cannot receive webhooks: they read the same events here.",
  summary: "Read the account's events, and wait for the next ones. Webhooks still receive theirs.",
  access: "events:read",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: a model reads a job or a list when it needs one, and has no use for a long poll.
  tool: null,

  query: v.strictObject({
    after: describe(
      Cursor,
      "The `cursor` of the previous response. Left out: only events from now on.",
    ),
    wait: describe(
      Wait,
      "Seconds to wait for an event when there is none, 0 to 25. The response comes with the first one, or without any at the end.",
    ),
    limit: describe(limitUpTo(LIMIT), "Largest number of events. Larger values are cut to 100."),
  }),
  output: v.object({
    events: describe(v.array(Event), "The events, oldest first. Empty when there is none."),
    cursor: field.text("Pass it as `after` to read the events that follow."),
  }),

  async handle(world, caller, { query: { after, wait, limit } }) {
    const owner = getOwnerId(caller);
    const { settings } = world;
    const bound = `events ${owner}`;
    const from = after === undefined ? startFeed(world) : verifyCursor(settings, bound, after);
    if (from === undefined) throw invalidField("after", "must be a cursor of this list");

    const read = (position: FeedPosition) => readFeed(world, owner, position, limit);
    let page = await read(from as FeedPosition);
    if (page.events.length === 0 && wait > 0) page = await waitForEvents(page);
    const { events, position } = page;
    return ok({
      events: events.map(({ id, type, createdAt, data }) => ({
        id,
        type,
        created_at: createdAt,
        data,
      })),
      cursor: signCursor(settings, bound, position),
    });

    async function waitForEvents(first: FeedPage): Promise<FeedPage> {
      let latest = first;
      if (latest.events.length > 0) return latest;
      const untilMs = world.now().getTime() + wait * 1_000;
      const times = { account: caller.account, untilMs, everyMs: POLL_MS };
      await poll(world, times, async () => {
        latest = await read(latest.position);
        return latest.events.length > 0 || undefined;
      });
      return latest;
    }
  },
});

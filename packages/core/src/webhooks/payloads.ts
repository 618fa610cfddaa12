import * as v from "valibot";

// What subscribers are told. These schemas are the documentation, too: every event that is written fits its own
// (test/core/webhooks/payloads.test.ts), and a field may be added to them but none taken away.

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Credits = v.pipe(v.number(), v.multipleOf(0.5));

const Progress = v.strictObject({
  total: Count,
  processed: Count,
  valid: Count,
  invalid: Count,
  risky: Count,
  unknown: Count,
});

const Balance = v.strictObject({
  account_id: v.string(),
  /** What was left by the call that crossed the line, in credits. */
  available: Credits,
  /** The line, in credits. */
  threshold: Credits,
});

/** The `data` of each event. */
export const EVENT_DATA = {
  "job.completed": v.strictObject({
    job_id: v.string(),
    status: v.literal("completed"),
    progress: Progress,
  }),
  "job.failed": v.strictObject({
    job_id: v.string(),
    status: v.literal("failed"),
    progress: Progress,
    /** Why, and what it means for the money. */
    error: v.string(),
  }),
  "credits.low": Balance,
  "credits.depleted": Balance,
  "blacklist.detected": v.strictObject({
    domain: v.string(),
    sending_ip: v.nullable(v.string()),
    check_id: v.string(),
    listed_on: v.array(v.string()),
  }),
  "dmarc.failed": v.strictObject({
    domain: v.string(),
    check_id: v.string(),
    status: v.string(),
    policy: v.nullable(v.string()),
    issues: v.array(v.string()),
  }),
} as const;

export type EventType = keyof typeof EVENT_DATA;

export const EVENT_TYPES = Object.keys(EVENT_DATA) as [EventType, ...EventType[]];

/** What an address is sent when its owner wants to see whether anything arrives. Nobody can subscribe to it. */
export const TEST_EVENT = "webhook.test";

const enveloped = <T extends string, D extends v.GenericSchema>(type: T, data: D) =>
  v.strictObject({
    /** Also in the header webhook-id. The same on each try: whoever has seen it has seen the event. */
    id: v.string(),
    type: v.literal(type),
    created_at: v.pipe(v.string(), v.isoTimestamp()),
    data,
  });

/** Every body that is ever sent. */
export const EventPayload = v.variant("type", [
  enveloped("job.completed", EVENT_DATA["job.completed"]),
  enveloped("job.failed", EVENT_DATA["job.failed"]),
  enveloped("credits.low", EVENT_DATA["credits.low"]),
  enveloped("credits.depleted", EVENT_DATA["credits.depleted"]),
  enveloped("blacklist.detected", EVENT_DATA["blacklist.detected"]),
  enveloped("dmarc.failed", EVENT_DATA["dmarc.failed"]),
  enveloped(TEST_EVENT, v.strictObject({ webhook_id: v.string() })),
]);

export type EventPayload = v.InferOutput<typeof EventPayload>;

/** The one form in which an event leaves the house. */
export const bodyOf = (event: {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: unknown;
}): string => {
  const { id, type, createdAt, data } = event;
  return JSON.stringify({ id, type, created_at: createdAt, data });
};

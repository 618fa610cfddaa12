import { POLICIES } from "@mailproof/mail/dmarc/record";
import * as v from "valibot";
import { describe } from "../lib/describe.ts";

// The payloads of events. These schemas are also the documentation: every written event matches its schema
// (test/core/webhooks/delivery.test.ts). A release may add fields, but remove none.

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const Credits = v.pipe(v.number(), v.multipleOf(0.5));

const Progress = v.strictObject({
  total: describe(Count, "Addresses in the job."),
  processed: describe(Count, "Addresses with a result."),
  valid: describe(Count, "Valid addresses."),
  invalid: describe(Count, "Invalid and disposable addresses."),
  risky: describe(Count, "Risky, catch-all, role and spam trap addresses."),
  unknown: describe(Count, "Unknown addresses, and those without a status."),
});

const Balance = v.strictObject({
  account_id: describe(v.string(), "The account's id."),
  available: describe(Credits, "Credits left after the request that crossed the threshold."),
  threshold: describe(Credits, "The threshold that was crossed, in credits."),
});

export const EVENT_DATA = {
  "job.completed": v.strictObject({
    job_id: describe(v.string(), "The job's id."),
    status: describe(v.literal("completed"), "The state of the job."),
    progress: describe(Progress, "Number of addresses by state."),
  }),
  "job.failed": v.strictObject({
    job_id: describe(v.string(), "The job's id."),
    status: describe(v.literal("failed"), "The state of the job."),
    progress: describe(Progress, "Number of addresses by state."),
    error: describe(v.string(), "Why the job failed, and what happened to its credits."),
  }),
  "credits.low": Balance,
  "credits.depleted": Balance,
  "blacklist.detected": v.strictObject({
    domain: describe(v.string(), "The monitored domain."),
    sending_ip: describe(
      v.nullable(v.string()),
      "The sending IPv4 address. Null when the monitor has none.",
    ),
    check_id: describe(v.string(), "The check's id. The operation getCheck returns the check."),
    listed_on: describe(v.array(v.string()), "The blocklists that list it."),
  }),
  "dmarc.failed": v.strictObject({
    domain: describe(v.string(), "The monitored domain."),
    check_id: describe(
      v.nullable(v.string()),
      "The check's id. The operation getCheck returns the check. Null when a report of a receiver is the cause.",
    ),
    status: describe(
      v.string(),
      "Result of the DMARC check. `unaligned`: a receiver reported mail that is not aligned.",
    ),
    policy: describe(
      v.nullable(v.string()),
      "The policy the record requests. Null when there is none.",
    ),
    issues: describe(v.array(v.string()), "Codes of the problems found."),
    report: describe(
      v.optional(
        v.strictObject({
          reporter: describe(v.string(), "The organisation that made the report."),
          report_id: describe(v.string(), "The report's id, given by the reporter."),
          day: describe(v.string(), "The day (UTC) that the report is about."),
          messages: describe(Count, "Number of messages in the report."),
          unaligned: describe(
            Count,
            "Messages that are not aligned and that the receiver does not know as forwarded.",
          ),
        }),
      ),
      "The report with unaligned mail. Left out when a check is the cause.",
    ),
  }),
  "dmarc.ready": v.strictObject({
    domain: describe(v.string(), "The monitored domain."),
    check_id: describe(
      v.string(),
      "The newest check's id. The operation getDomainProgress returns the record to publish.",
    ),
    policy: describe(v.picklist(POLICIES), "The policy that applies now."),
    ready_for: describe(v.picklist(POLICIES), "The stricter policy that is safe."),
    aligned_share: describe(
      Share,
      "Share of messages that are aligned, 0–1, without those that are known as forwarded.",
    ),
    messages: describe(Count, "Number of messages in the reports of the last 14 days."),
    days: describe(Count, "Number of days with reports that found the policy."),
  }),
} as const;

export type WebhookEventType = keyof typeof EVENT_DATA;

const SAMPLE_PROGRESS = { total: 3, processed: 3, valid: 2, invalid: 1, risky: 0, unknown: 0 };
const SAMPLE_BALANCE = { account_id: "acc_sample", available: 0.5, threshold: 100 };

/** The `data` of a test event of each type: its ids refer to nothing that exists. */
export const SAMPLE_DATA: {
  readonly [T in WebhookEventType]: v.InferOutput<(typeof EVENT_DATA)[T]>;
} = {
  "job.completed": { job_id: "job_sample", status: "completed", progress: SAMPLE_PROGRESS },
  "job.failed": {
    job_id: "job_sample",
    status: "failed",
    progress: { ...SAMPLE_PROGRESS, processed: 0, valid: 0, invalid: 0 },
    error: "A sample: no job failed.",
  },
  "credits.low": { ...SAMPLE_BALANCE, available: 99.5 },
  "credits.depleted": { ...SAMPLE_BALANCE, threshold: 1 },
  "blacklist.detected": {
    domain: "example.com",
    sending_ip: "192.0.2.1",
    check_id: "txn_sample",
    listed_on: ["bl.example.org"],
  },
  "dmarc.failed": {
    domain: "example.com",
    check_id: "txn_sample",
    status: "missing",
    policy: null,
    issues: ["DMARC_MISSING"],
  },
  "dmarc.ready": {
    domain: "example.com",
    check_id: "txn_sample",
    policy: "none",
    ready_for: "quarantine",
    aligned_share: 0.995,
    messages: 1_200,
    days: 14,
  },
};

export const WEBHOOK_EVENT_TYPES = Object.keys(EVENT_DATA) as [
  WebhookEventType,
  ...WebhookEventType[],
];

/** The event that a test request sends. Webhooks cannot subscribe to it. */
export const TEST_EVENT = "webhook.test";

const toEnvelopeSchema = <T extends string, D extends v.GenericSchema>(
  text: string,
  type: T,
  data: D,
) =>
  describe(
    v.strictObject({
      id: describe(
        v.string(),
        "The event's id, also in the header webhook-id and the same on each attempt.",
      ),
      type: describe(v.literal(type), "The event's type."),
      created_at: describe(
        v.pipe(v.string(), v.isoTimestamp()),
        "When the event happened, ISO 8601.",
      ),
      data: describe(data, "The event's data."),
    }),
    text,
  );

export const EventPayload = v.variant("type", [
  toEnvelopeSchema(
    "A job ended, and its results can be read.",
    "job.completed",
    EVENT_DATA["job.completed"],
  ),
  toEnvelopeSchema("A job ended without results.", "job.failed", EVENT_DATA["job.failed"]),
  toEnvelopeSchema(
    "A request left less than a tenth of the last grant. Sent once per crossing.",
    "credits.low",
    EVENT_DATA["credits.low"],
  ),
  toEnvelopeSchema(
    "A request left less than one credit. Sent once per crossing.",
    "credits.depleted",
    EVENT_DATA["credits.depleted"],
  ),
  toEnvelopeSchema(
    "A monitored domain, or the address it sends from, is on a blocklist.",
    "blacklist.detected",
    EVENT_DATA["blacklist.detected"],
  ),
  toEnvelopeSchema(
    "The DMARC record of a monitored domain is missing, invalid or without effect; or a receiver reported mail of it that is not aligned, at most once a day.",
    "dmarc.failed",
    EVENT_DATA["dmarc.failed"],
  ),
  toEnvelopeSchema(
    "A stricter DMARC policy is safe for a monitored domain. Sent once for each policy, and again only when the domain was not ready in between.",
    "dmarc.ready",
    EVENT_DATA["dmarc.ready"],
  ),
  toEnvelopeSchema(
    "A test event, sent on request.",
    TEST_EVENT,
    v.strictObject({ webhook_id: describe(v.string(), "The webhook's id.") }),
  ),
]);

export type EventPayload = v.InferOutput<typeof EventPayload>;

export const toEventBody = (event: {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: unknown;
}): string => {
  const { id, type, createdAt, data } = event;
  return JSON.stringify({ id, type, created_at: createdAt, data });
};

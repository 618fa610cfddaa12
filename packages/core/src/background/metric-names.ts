import { MOVES, type MoveKind } from "../money/moves.ts";
import { STATUSES } from "../verify/result.ts";

// Every metric of the service. The scrape of one machine (packages/local/src/metrics) and the metrics that Lambdas publish in
// CloudWatch (packages/functions/src/metrics.ts) share these names, by Prometheus' conventions: base units and `_total`.
// docs/design/running.md explains why their labels differ.

export type MetricType = "counter" | "gauge" | "histogram";

type Metric = { readonly type: MetricType; readonly help: string };

/** Prometheus stores a series for each combination of the values of `labels`. */
type MachineMetric = Metric & { readonly labels: readonly string[] };

const EACH_LAMBDA = "each Lambda";

type CloudMetric = Metric & {
  /** CloudWatch bills each combination of dimension values as a metric, so only these few values are allowed. */
  readonly dimensions: Readonly<Record<string, readonly string[] | typeof EACH_LAMBDA>>;
  /** Additional fields of the log line, for queries over the log. They create no metric. */
  readonly fields: readonly string[];
};

const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"] as const;
const SESSION_OUTCOMES = ["connected", "unreached"] as const;
const MOVE_KINDS = Object.keys(MOVES) as readonly MoveKind[];

const GAUGE = { type: "gauge", labels: [] } as const;
const BARE_GAUGE = { ...GAUGE, dimensions: {}, fields: [] } as const;

const SHARED_METRICS = {
  mailproof_http_requests_total: {
    type: "counter",
    help: "Requests by route and status; status is aborted if the client hung up first.",
    labels: ["route", "status"],
    // Each endpoint is a Lambda, and AWS counts a Lambda's calls and durations free of charge.
    dimensions: { status: STATUS_CLASSES },
    fields: ["route"],
  },
  mailproof_http_request_duration_seconds: {
    type: "histogram",
    help: "Time from a request's headers to the end of its response.",
    labels: ["route"],
    dimensions: { status: STATUS_CLASSES },
    fields: ["route"],
  },
  mailproof_verifications_total: {
    type: "counter",
    help: "Addresses verified, without cached results and test keys; each attempt counts.",
    labels: ["status", "provider"],
    dimensions: { status: STATUSES },
    fields: ["provider"],
  },
  mailproof_smtp_sessions_total: {
    type: "counter",
    help: "Attempts to connect to mail servers, by outcome.",
    labels: ["outcome"],
    dimensions: { outcome: SESSION_OUTCOMES },
    fields: ["fault"],
  },
  mailproof_slot_wait_seconds: {
    type: "histogram",
    help: "How long a recipient waited until its session with a mail server began.",
    labels: ["provider"],
    dimensions: {},
    fields: ["provider"],
  },
  mailproof_credits_moved_total: {
    type: "counter",
    help: "Credits moved, by kind of movement.",
    labels: ["kind"],
    dimensions: { kind: MOVE_KINDS },
    fields: [],
  },
  mailproof_webhook_calls_total: {
    type: "counter",
    help: "Calls of webhooks and callbacks, by class of status or by fault.",
    labels: ["outcome"],
    dimensions: { outcome: [...STATUS_CLASSES, "failed"] },
    fields: ["fault"],
  },
  mailproof_due_age_seconds: {
    ...BARE_GAUGE,
    help: "How overdue the oldest scheduled work is.",
  },
  mailproof_due_misplaced_items: {
    ...BARE_GAUGE,
    help: "Items that a wrong clock scheduled.",
  },
  mailproof_credits_held_over_an_hour: {
    ...BARE_GAUGE,
    help: "Credits held for over an hour.",
  },
  mailproof_mail_providers_in_doubt: {
    ...BARE_GAUGE,
    help: "Mail providers that accepted a random recipient.",
  },
  mailproof_mail_providers_blocked: {
    ...BARE_GAUGE,
    help: "Circuits of large mail providers that are open: they refuse our sessions.",
  },
} as const satisfies Readonly<Record<string, MachineMetric & CloudMetric>>;

/** Metrics only of one machine; `onAws` explains why AWS lacks the metric. */
const MACHINE_METRICS = {
  mailproof_lists_age_seconds: {
    ...GAUGE,
    help: "Age of the lists of domains.",
    onAws: "The lists are those of the deployment.",
  },
  mailproof_mail_provider_blocked: {
    type: "gauge",
    help: "1 for each exit of ours whose sessions a large mail provider refuses.",
    labels: ["provider", "exit"],
    onAws:
      "mailproof_mail_providers_blocked is their number; the log's mail_provider_blocked names them.",
  },
  mailproof_smtp_sessions_open: {
    ...GAUGE,
    help: "Open connections to mail servers.",
    onAws: "AWS counts the concurrent Lambdas that hold them.",
  },
  mailproof_queue_messages: {
    type: "gauge",
    help: "Messages in each queue, those in progress included.",
    labels: ["queue"],
    onAws: "SQS publishes ApproximateNumberOfMessagesVisible.",
  },
  mailproof_queue_oldest_message_age_seconds: {
    type: "gauge",
    help: "For how long the oldest message that a worker may take has waited.",
    labels: ["queue"],
    onAws: "SQS publishes ApproximateAgeOfOldestMessage.",
  },
  mailproof_clock_jump_seconds: {
    ...GAUGE,
    help: "Jump of the clock within the last hour.",
    onAws: "AWS keeps the clock.",
  },
  mailproof_resources_exhausted: {
    ...GAUGE,
    help: "How often descriptors, memory or ports were short within the last hour.",
    onAws: "AWS counts the errors of a Lambda that has no memory.",
  },
  mailproof_event_loop_delay_seconds: {
    type: "gauge",
    help: "How late the event loop was since the last scrape: the 99th percentile and the maximum.",
    labels: ["stat"],
    onAws: "A Lambda answers one request at a time.",
  },
  mailproof_sqlite_size_bytes: {
    type: "gauge",
    help: "Size of each database with its write-ahead log.",
    labels: ["database"],
    onAws: "The state is in DynamoDB.",
  },
  mailproof_disk_free_bytes: {
    ...GAUGE,
    help: "Free space on the disk of the state.",
    onAws: "The state is in DynamoDB and S3.",
  },
  mailproof_build_info: {
    type: "gauge",
    help: "The release; always 1.",
    labels: ["version", "node"],
    onAws: "The deployment names the release.",
  },
  // These names are standard in every Prometheus client.
  process_resident_memory_bytes: {
    ...GAUGE,
    help: "Resident memory.",
    onAws: "Each Lambda's REPORT line has its memory.",
  },
  process_cpu_seconds_total: {
    type: "counter",
    help: "Processor time used.",
    labels: [],
    onAws: "AWS bills the duration of Lambdas.",
  },
  process_start_time_seconds: {
    ...GAUGE,
    help: "Start of the process, in seconds since 1970.",
    onAws: "A process serves for minutes: ColdStart counts them.",
  },
} as const satisfies Readonly<Record<string, MachineMetric & { readonly onAws: string }>>;

/** Metrics only of AWS; `onOneMachine` explains why one machine lacks the metric. */
const CLOUD_METRICS = {
  mailproof_audit_violations: {
    type: "gauge",
    help: "Invariants of the ledger that the daily audit found broken.",
    dimensions: {},
    fields: [],
    onOneMachine: "`admin audit` prints them and exits with 1.",
  },
  // AWS does not count a failure that the Lambda itself answers. Published only when such a failure occurs.
  mailproof_lambda_failures_total: {
    type: "counter",
    help: "Responses of 5xx, and messages that have to be delivered again.",
    dimensions: { function_name: EACH_LAMBDA },
    fields: [],
    onOneMachine: "mailproof_http_requests_total has the responses, by route and status.",
  },
  // Powertools chose this name.
  ColdStart: {
    type: "counter",
    help: "Processes of Lambdas that have begun.",
    dimensions: {},
    fields: [],
    onOneMachine: "There is one process: process_start_time_seconds.",
  },
} as const satisfies Readonly<Record<string, CloudMetric & { readonly onOneMachine: string }>>;

export const METRICS_ON_MACHINE = { ...SHARED_METRICS, ...MACHINE_METRICS };
export type MachineMetricName = keyof typeof METRICS_ON_MACHINE;

export const METRICS_ON_AWS = { ...SHARED_METRICS, ...CLOUD_METRICS };
export type CloudMetricName = keyof typeof METRICS_ON_AWS;
export type CloudMetrics = typeof METRICS_ON_AWS;

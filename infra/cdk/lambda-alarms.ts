import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import {
  type Lambda,
  prober,
  routes,
  scheduleSpecs,
  uploadLimit,
  workerSpecs,
} from "../topology.ts";
import type { AlarmSpec } from "./alarms.ts";
import {
  CALLS_MIN,
  createErrorMetric,
  createFailureShare,
  createLongestRunMetric,
  createWorkerFailureMetric,
  type Monitored,
} from "./metrics.ts";

const LOOK = 'See its log group; docs/operating.md, "A Lambda fails".';

/** Customers call endpoints: some calls may fail, and a quiet endpoint gets few calls. */
const FAILED_PERCENT = 20;

const createShareAlarm =
  (stage: Monitored, answers: boolean) =>
  ({ name }: Lambda): AlarmSpec => ({
    id: `Lambda${name}`,
    metric: createFailureShare(stage, name, answers),
    threshold: FAILED_PERCENT,
    periods: 1,
    description: `A fifth of the calls of ${name} fail, of ${CALLS_MIN} or more in a quarter of an hour. ${LOOK}`,
  });

/** SQS delivers a failed message again, so a few failures are not a fault. */
const WORKER_FAILURES = 5;

const createWorkerAlarm =
  (stage: Monitored) =>
  ({ name }: Lambda): AlarmSpec => ({
    id: `Lambda${name}`,
    metric: createWorkerFailureMetric(stage, name, "a quarter of an hour"),
    threshold: WORKER_FAILURES,
    periods: 1,
    description: `${name} failed with ${WORKER_FAILURES} messages in a quarter of an hour. ${LOOK}`,
  });

const createDeadLetterWorkerAlarm =
  (stage: Monitored) =>
  ({ name }: Lambda): AlarmSpec => ({
    id: `Lambda${name}`,
    metric: createWorkerFailureMetric(stage, name, "five minutes"),
    threshold: 1,
    periods: 1,
    description: `${name} failed: what it refunds is not refunded. ${LOOK}`,
  });

/** A throttled run is no fault: the run before still works, and the next run does the same work. */
const createRunAlarm =
  (stage: Monitored) =>
  ({ name }: Lambda): AlarmSpec => ({
    id: `Lambda${name}`,
    metric: createErrorMetric(stage, name),
    threshold: 1,
    periods: 1,
    description: `A run of ${name} failed. ${LOOK}`,
  });

/** The longest run may last this part of the time-out. */
const TIMEOUT_PERCENT = 90;

/** The alarm ApiLatency covers the endpoints, which share one time-out. */
const createDurationAlarm =
  (stage: Monitored) =>
  ({ name, timeoutSeconds }: Lambda): AlarmSpec => ({
    id: `Duration${name}`,
    metric: createLongestRunMetric(stage, name),
    threshold: timeoutSeconds * 10 * TIMEOUT_PERCENT,
    periods: 1,
    description: `${name} ran for ${TIMEOUT_PERCENT} % of its ${timeoutSeconds} seconds or more: soon it will be cut off. docs/operating.md, "A Lambda fails".`,
  });

/** The Lambdas that AWS itself starts: no caller and no message would show their failure. */
const unattended = [...scheduleSpecs.map(({ lambda }) => lambda), uploadLimit];
const getLambdas = (areDead: boolean) =>
  workerSpecs
    .filter(({ queue }) => isDeadLetterQueue(queue) === areDead)
    .map(({ lambda }) => lambda);

/** Alarms of the Lambdas whose failure no other alarm shows. */
export const createVitalLambdaAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  ...unattended.map(createRunAlarm(stage)),
  ...getLambdas(true).map(createDeadLetterWorkerAlarm(stage)),
];

/** Alarms per endpoint and worker, because Api5xx and the queues do not show which Lambda fails. */
export const createLambdaAlarms = (stage: Monitored): readonly AlarmSpec[] => [
  ...routes.map(({ lambda }) => lambda).map(createShareAlarm(stage, true)),
  createShareAlarm(stage, false)(prober),
  ...getLambdas(false).map(createWorkerAlarm(stage)),
  ...[prober, ...workerSpecs.map(({ lambda }) => lambda), ...unattended].map(
    createDurationAlarm(stage),
  ),
];

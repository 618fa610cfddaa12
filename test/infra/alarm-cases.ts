import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import {
  prober,
  queues,
  routes,
  scheduleSpecs,
  table,
  uploadLimit,
  workerSpecs,
  ZONES,
} from "../../infra/topology.ts";
import type { Figures, Sample } from "./cloudwatch.ts";

// What each alarm is fed with: figures at which it has to ring, and figures just below, at which it may not. Thresholds
// and periods are written out here a second time: a change of an alarm needs a change of what is expected of it.

export type Ringing = {
  readonly why: string;
  readonly figures: Figures;
  /** The minutes at whose end it rings. */
  readonly rings: readonly number[];
  /** The minute by which it is over; null: it continues. */
  readonly over: number;
};
export type Quiet = { readonly why: string; readonly figures: Figures; readonly minutes: number };
export type AlarmCase = {
  readonly id: string;
  readonly ringing: readonly Ringing[];
  readonly quiet: readonly Quiet[];
};

/** A value in each of these minutes. */
const each = (minutes: readonly number[], value: number, count = 1): readonly Sample[] =>
  minutes.map((minute) => ({ minute, value, count }));

/** The greatest of a minute is this; another is 0. */
const peak = (minutes: readonly number[], value: number): readonly Sample[] => [
  ...each(minutes, value),
  ...each(minutes, 0),
];

const from = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at);

const NOTHING: Quiet = { why: "nothing happens", figures: {}, minutes: 60 };
const HOUR = 60;

const SERVICE = "service=mailproof-production";
const own = (name: string) => `Mailproof ${name} ${SERVICE}`;
const ofLambda = (what: string, name: string) => `AWS/Lambda ${what} FunctionName=lambda/${name}`;
const failuresOf = (name: string) =>
  `Mailproof mailproof_lambda_failures_total function_name=lambda/${name} ${SERVICE}`;
const ofQueue = (what: string, name: string) => `AWS/SQS ${what} QueueName=queue/${name}`;
const ofApi = (what: string) => `AWS/ApiGateway ${what} ApiId=api`;
const ofTable = (what: string, dimension = "") =>
  dimension < "TableName"
    ? `AWS/DynamoDB ${what} ${dimension} TableName=table`.replace("  ", " ")
    : `AWS/DynamoDB ${what} TableName=table ${dimension}`;

/** Ten calls, from the first to the last minute of a quarter of an hour. */
const TEN = [0, 1, 3, 4, 6, 8, 9, 11, 12, 14];

const createShareCase =
  (hasAnswers: boolean) =>
  (name: string): AlarmCase => {
    const play = (calls: readonly number[], failed: readonly number[], how: string): Figures => ({
      [ofLambda("Invocations", name)]: each(calls, 1),
      [ofLambda("Errors", name)]: calls.map((minute) => ({
        minute,
        value: how === "crash" && failed.includes(minute) ? 1 : 0,
      })),
      ...(how === "answer" && { [failuresOf(name)]: each(failed, 1) }),
    });
    const few = [...from(0, 9), ...from(24, 9)];
    return {
      id: `Lambda${name}`,
      ringing: [
        { why: "two of ten calls crash", how: "crash" },
        ...(hasAnswers ? [{ why: "two of ten calls are answered with 500", how: "answer" }] : []),
      ].flatMap(({ why, how }) => [
        { why, figures: play(TEN, [3, 12], how), rings: [15], over: 60 },
        {
          why: `${why}, at once, and then there are no more`,
          figures: {
            ...play([3], [3], how),
            [ofLambda("Invocations", name)]: each([3], 1, 10),
            [how === "crash" ? ofLambda("Errors", name) : failuresOf(name)]: each([3], 1, 2),
          },
          rings: [4],
          over: 60,
        },
      ]),
      quiet: [
        NOTHING,
        { why: "all calls succeed", figures: play(from(0, 40), [], "crash"), minutes: 60 },
        {
          why: "each of few calls crashes",
          figures: play(few, few, "crash"),
          minutes: 60,
        },
        {
          why: "fewer than a fifth of the calls crash",
          figures: {
            [ofLambda("Invocations", name)]: each([3], 1, 21),
            [ofLambda("Errors", name)]: [...each([3], 1, 4), ...each([3], 0, 17)],
          },
          minutes: 60,
        },
      ],
    };
  };

const createWorkerCase = (name: string): AlarmCase => {
  const fifth = [0, 3, 6, 10, 14];
  const fourTwice = [0, 1, 2, 3, 18, 19, 20, 21];
  const errors = ofLambda("Errors", name);
  return {
    id: `Lambda${name}`,
    ringing: [
      {
        why: "five messages fail in a quarter of an hour",
        figures: { [failuresOf(name)]: each(fifth, 1), [errors]: each(from(0, 15), 0) },
        rings: [15],
        over: 60,
      },
      {
        why: "five runs crash in a quarter of an hour",
        figures: { [errors]: peak(fifth, 1) },
        rings: [15],
        over: 60,
      },
    ],
    quiet: [
      NOTHING,
      {
        why: "four messages fail, and four again",
        figures: { [failuresOf(name)]: each(fourTwice, 1), [errors]: each(from(0, 30), 0) },
        minutes: 60,
      },
    ],
  };
};

const createDeadLetterWorkerCase = (name: string): AlarmCase => ({
  id: `Lambda${name}`,
  ringing: [
    {
      why: "one message fails",
      figures: { [failuresOf(name)]: each([3], 1), [ofLambda("Errors", name)]: each([3], 0) },
      rings: [4],
      over: 30,
    },
    {
      why: "one run crashes",
      figures: { [ofLambda("Errors", name)]: peak([3], 1) },
      rings: [4],
      over: 30,
    },
  ],
  quiet: [
    NOTHING,
    {
      why: "all runs succeed",
      figures: { [ofLambda("Errors", name)]: each(from(0, 10), 0) },
      minutes: 30,
    },
  ],
});

const createRunCase = (name: string): AlarmCase => {
  const { ringing, quiet } = createDeadLetterWorkerCase(name);
  const throttled = { [ofLambda("Throttles", name)]: each(from(0, 10), 1) };
  return {
    id: `Lambda${name}`,
    ringing: ringing.slice(1),
    quiet: [
      ...quiet,
      {
        why: "a run that is not over keeps the next from starting",
        figures: throttled,
        minutes: 30,
      },
    ],
  };
};

/** A value that one moment decides: reached once it rings, and it may come near as often as it will. */
const createPeakCase = (
  id: string,
  metric: string,
  threshold: number,
  belowPeak = 0,
): AlarmCase => ({
  id,
  ringing: [
    {
      why: `${threshold} is reached once`,
      figures: { [metric]: peak([3], threshold) },
      rings: [4],
      over: 60,
    },
  ],
  quiet: [
    NOTHING,
    {
      why: `it stays below ${threshold}`,
      figures: {
        [metric]: [
          ...each(from(0, 9), threshold - 1),
          ...each(from(0, 9), threshold - 1 - belowPeak),
        ],
      },
      minutes: 60,
    },
  ],
});

const createDurationCase = (name: string, timeoutSeconds: number): AlarmCase =>
  createPeakCase(`Duration${name}`, ofLambda("Duration", name), timeoutSeconds * 900);

/** A value that has to be reached for so many minutes. */
const createLastingCase = (
  id: string,
  metric: string,
  threshold: number,
  minutes: number,
): AlarmCase => ({
  id,
  ringing: [
    {
      why: `${threshold} for ${minutes} minutes`,
      figures: { [metric]: [...peak(from(9, minutes), threshold), ...each(from(0, 9), 0)] },
      rings: [9 + minutes],
      over: 9 + minutes + 30,
    },
  ],
  quiet: [
    NOTHING,
    {
      why: `${threshold} for a minute less`,
      figures: {
        [metric]: [
          ...each(from(0, 9), 0),
          ...each(from(9, minutes - 1), threshold),
          ...each(from(9 + minutes - 1, 20), 0),
        ],
      },
      minutes: 60,
    },
    {
      why: `it stays below ${threshold}`,
      figures: {
        [metric]: [...each(from(0, 30), threshold - 1), ...each(from(0, 30), threshold - 1)],
      },
      minutes: 60,
    },
  ],
});

/** What is published each minute: silence is a fault of its own, but a late figure is none. */
const createGaugeCase = (
  id: string,
  name: string,
  threshold: number,
  minutes: number,
): AlarmCase => {
  const metric = own(name);
  const { ringing, quiet } = createLastingCase(id, metric, threshold, minutes);
  const sound = (some: Figures): Figures => ({
    [metric]: [...(some[metric] ?? []), ...each(from(9 + minutes, 60), 0)],
  });
  const silent = 10 + minutes + 2;
  return {
    id,
    ringing: [
      ...ringing.map((one) => ({ ...one, figures: sound(one.figures) })),
      {
        why: "it is not measured",
        figures: { [metric]: [...each(from(0, 10), 0), ...each(from(silent + 5, 30), 0)] },
        rings: [silent + 1, silent + 4],
        over: silent + 20,
      },
    ],
    quiet: [
      ...quiet.filter(({ figures }) => figures[metric]).map((one) => ({ ...one, minutes: 30 })),
      {
        why: "it is not measured for a while",
        figures: { [metric]: [...each(from(0, 10), 0), ...each(from(10 + minutes, 30), 0)] },
        minutes: 30,
      },
    ],
  };
};

const createQueueCase = (name: string, visibilitySeconds: number): AlarmCase =>
  createLastingCase(
    `Queue-${name}`,
    ofQueue("ApproximateAgeOfOldestMessage", name),
    visibilitySeconds + 900,
    3,
  );

const createDeadLetterCase = (name: string): AlarmCase => {
  const cases = ["Visible", "NotVisible"].map((what) =>
    createLastingCase(`Queue-${name}`, ofQueue(`ApproximateNumberOfMessages${what}`, name), 1, 15),
  );
  return {
    id: `Queue-${name}`,
    ringing: cases.flatMap(({ ringing }) => ringing),
    quiet: cases.flatMap(({ quiet }) => quiet),
  };
};

const auditCase: AlarmCase = {
  id: "Audit",
  ringing: [
    {
      why: "an audit finds a broken invariant, and the next finds none",
      figures: {
        [own("mailproof_audit_violations")]: [...peak([5], 1), ...each([5 + 24 * HOUR], 0)],
      },
      rings: [6, 12 * HOUR, 24 * HOUR],
      over: 26 * HOUR,
    },
  ],
  quiet: [
    { why: "there was no audit yet", figures: {}, minutes: 30 * HOUR },
    {
      why: "an audit finds nothing",
      figures: { [own("mailproof_audit_violations")]: each([5, 5 + 24 * HOUR], 0) },
      minutes: 30 * HOUR,
    },
  ],
};

const auditMissingCase: AlarmCase = {
  id: "AuditMissing",
  ringing: [
    {
      why: "there is no audit for a day and a half",
      figures: { [own("mailproof_audit_violations")]: each([0, 36 * HOUR], 0) },
      rings: [32 * HOUR + 30, 36 * HOUR],
      over: 37 * HOUR,
    },
  ],
  quiet: [
    {
      why: "an audit is late",
      figures: { [own("mailproof_audit_violations")]: each([0, 25 * HOUR, 56 * HOUR + 30], 0) },
      minutes: 60 * HOUR,
    },
  ],
};

const apiCase: AlarmCase = {
  id: "Api5xx",
  ringing: [
    {
      why: "one in twenty responses is 500",
      figures: {
        [ofApi("Count")]: each(from(0, 5), 1, 8),
        [ofApi("5xx")]: [...each([1, 3], 1), ...each(from(0, 5), 0, 7)],
      },
      rings: [5],
      over: 30,
    },
    {
      why: "one of ten responses is 500",
      figures: { [ofApi("Count")]: each(from(0, 5), 1, 2), [ofApi("5xx")]: each([2], 1) },
      rings: [5],
      over: 30,
    },
    {
      why: "one of ten at once, and then there are no more requests",
      figures: { [ofApi("Count")]: each([3], 1, 10), [ofApi("5xx")]: each([3], 1) },
      rings: [4],
      over: 30,
    },
  ],
  quiet: [
    NOTHING,
    {
      why: "fewer than one in twenty are 500",
      figures: { [ofApi("Count")]: each([3], 1, 200), [ofApi("5xx")]: each([3], 1, 9) },
      minutes: 30,
    },
    {
      why: "each of few responses is 500",
      figures: {
        [ofApi("Count")]: each([0, 1, 2, 7, 8, 9], 1, 3),
        [ofApi("5xx")]: each([0, 1, 2, 7, 8, 9], 1, 3),
      },
      minutes: 30,
    },
  ],
};

const latencyCase: AlarmCase = {
  id: "ApiLatency",
  ringing: [
    {
      why: "two in a hundred requests run into the time-out",
      figures: { [ofApi("Latency")]: [...each([3], 50, 98), ...each([4], 28_000, 2)] },
      rings: [5],
      over: 60,
    },
  ],
  quiet: [
    NOTHING,
    {
      why: "one in two hundred does",
      figures: { [ofApi("Latency")]: [...each([3], 50, 199), ...each([3], 29_000)] },
      minutes: 60,
    },
    {
      why: "verifications wait for as long as they may",
      figures: { [ofApi("Latency")]: each(from(0, 30), 27_999) },
      minutes: 60,
    },
  ],
};

const throttleCase: AlarmCase = (() => {
  const metrics = ["ReadThrottleEvents", "WriteThrottleEvents"].flatMap((what) =>
    ["", ...Object.keys(table.indexes).map((name) => `GlobalSecondaryIndexName=${name}`)].map(
      (dimension) => ofTable(what, dimension).trim(),
    ),
  );
  return {
    id: "TableThrottled",
    ringing: metrics.map((metric) => ({
      why: `100 of ${metric} a minute, for three minutes`,
      figures: { [metric]: [...each(from(3, 3), 60), ...each(from(3, 3), 40)] },
      rings: [6],
      over: 30,
    })),
    quiet: [
      NOTHING,
      ...metrics.flatMap((metric) => [
        { why: `99 of ${metric}`, figures: { [metric]: each(from(0, 9), 99) }, minutes: 30 },
        { why: "for two minutes", figures: { [metric]: each(from(3, 2), 100) }, minutes: 30 },
      ]),
    ],
  };
})();

const TRANSACTIONS = ofTable("SuccessfulRequestLatency", "Operation=TransactWriteItems");
const CONFLICTS = ofTable("TransactionConflict").trim();
const createConflicts = (minutes: readonly number[], done: number, conflicts: number): Figures => ({
  [TRANSACTIONS]: each(minutes, 8, done),
  [CONFLICTS]: each(minutes, 1, conflicts),
});
const conflictCase: AlarmCase = {
  id: "TableConflicts",
  ringing: [
    {
      why: "one transaction in ten meets another, for a quarter of an hour",
      figures: createConflicts(from(0, 15), 18, 2),
      rings: [15],
      over: 60,
    },
  ],
  quiet: [
    NOTHING,
    { why: "for ten minutes", figures: createConflicts(from(0, 10), 18, 2), minutes: 60 },
    { why: "fewer than one in ten", figures: createConflicts(from(0, 40), 370, 40), minutes: 60 },
    {
      why: "half of few transactions",
      figures: {
        [TRANSACTIONS]: each([0, 5, 10, 15, 20, 25], 8, 49),
        [CONFLICTS]: each([0, 5, 10, 15, 20, 25], 1, 50),
      },
      minutes: 60,
    },
  ],
};

const tableErrorCase: AlarmCase = {
  id: "TableErrors",
  ringing: ["DeleteItem", "GetItem", "PutItem", "Query", "TransactWriteItems", "UpdateItem"].map(
    (operation) => ({
      why: `ten errors of ${operation} in five minutes`,
      figures: { [ofTable("SystemErrors", `Operation=${operation}`)]: each(from(0, 5), 1, 2) },
      rings: [5],
      over: 30,
    }),
  ),
  quiet: [
    NOTHING,
    {
      why: "nine errors, and nine again",
      figures: { [ofTable("SystemErrors", "Operation=Query")]: each([0, 5], 9) },
      minutes: 30,
    },
  ],
};

const ofSessions = (outcome: string) =>
  `Mailproof mailproof_smtp_sessions_total outcome=${outcome} ${SERVICE}`;
const createSessions = (minutes: readonly number[], all: number, unreached: number): Figures => ({
  [ofSessions("connected")]: each(minutes, all - unreached),
  [ofSessions("unreached")]: each(minutes, unreached),
});
const egressCase: AlarmCase = {
  id: "SmtpEgress",
  ringing: [
    {
      why: "half of twenty sessions in five minutes reach no server, three times",
      figures: createSessions(from(0, 15), 4, 2),
      rings: [15],
      over: 60,
    },
    {
      why: "three times, and then there are no more sessions",
      figures: createSessions([4, 9, 14], 20, 10),
      rings: [15],
      over: 60,
    },
  ],
  quiet: [
    NOTHING,
    { why: "for ten minutes", figures: createSessions(from(0, 10), 4, 2), minutes: 60 },
    { why: "fewer than half", figures: createSessions(from(0, 40), 100, 49), minutes: 60 },
    {
      why: "all of few sessions",
      figures: createSessions([0, 5, 10, 15, 20, 25], 19, 19),
      minutes: 60,
    },
    {
      why: "all sessions reach a server",
      figures: { [ofSessions("connected")]: each(from(0, 40), 50) },
      minutes: 60,
    },
  ],
};

const unattended = [...scheduleSpecs.map(({ lambda }) => lambda), uploadLimit];
const getWorkers = (areDead: boolean) =>
  workerSpecs
    .filter(({ queue }) => isDeadLetterQueue(queue) === areDead)
    .map(({ lambda }) => lambda.name);

/** The alarms of every stage. */
export const LEAN_CASES: readonly AlarmCase[] = [
  apiCase,
  latencyCase,
  throttleCase,
  conflictCase,
  tableErrorCase,
  createPeakCase("Concurrency", "AWS/Lambda ClaimedAccountConcurrency", 900),
  createGaugeCase("DueWork", "mailproof_due_age_seconds", 300, 5),
  createGaugeCase("MisplacedWork", "mailproof_due_misplaced_items", 1, 15),
  createGaugeCase("HeldCredits", "mailproof_credits_held_over_an_hour", 1, 5),
  createPeakCase("ProviderInDoubt", own("mailproof_mail_providers_in_doubt"), 1),
  createPeakCase("MailProviderBlocked", own("mailproof_mail_providers_blocked"), 1),
  auditCase,
  auditMissingCase,
  egressCase,
  ...queues.map(({ name, receivesMax, visibilitySeconds }) =>
    receivesMax === null ? createDeadLetterCase(name) : createQueueCase(name, visibilitySeconds),
  ),
  ...unattended.map(({ name }) => createRunCase(name)),
  ...getWorkers(true).map(createDeadLetterWorkerCase),
];

export const FULL_CASES: readonly AlarmCase[] = [
  ...LEAN_CASES,
  ...ZONES.map((zone) =>
    createLastingCase(
      `NatPorts${zone}`,
      `AWS/NATGateway ErrorPortAllocation NatGatewayId=nat/${zone}`,
      1,
      3,
    ),
  ),
  ...routes.map(({ lambda }) => createShareCase(true)(lambda.name)),
  createShareCase(false)(prober.name),
  ...getWorkers(false).map(createWorkerCase),
  ...[prober, ...workerSpecs.map(({ lambda }) => lambda), ...unattended].map(
    ({ name, timeoutSeconds }) => createDurationCase(name, timeoutSeconds),
  ),
];

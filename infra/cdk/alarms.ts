import { type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { lambdas, type QueueOf, queues, ZONES } from "../topology.ts";
import * as measures from "./measures.ts";
import { inQueue, lyingIn, type NameOf } from "./measures.ts";

/** One thing that somebody is called for: when, and what to do about it. */
export type Watch = {
  readonly id: string;
  readonly metric: IMetric;
  /** It rings at this value, in so many of the latest periods one after the other. */
  readonly from: number;
  readonly periods: number;
  readonly says: string;
  /** Where silence is a fault itself: what should measure has stopped. */
  readonly silence?: "rings";
};

const MINUTES_15 = 15 * 60;

const ofLambdas = (nameOf: NameOf): readonly Watch[] =>
  lambdas.map(({ name }) => ({
    id: `Lambda${name}`,
    metric: measures.failuresOf(nameOf, name),
    from: 5,
    periods: 3,
    says: `${name} breaks or finds no place. Its log group tells why; docs/operating.md, "A Lambda fails".`,
  }));

const ofQueue =
  (nameOf: NameOf) =>
  ({ name, receivesMax, visibilitySeconds }: QueueOf): Watch =>
    receivesMax === null
      ? {
          id: `Queue-${name}`,
          metric: lyingIn(nameOf, name),
          from: 1,
          periods: MINUTES_15 / 60,
          says: `Messages lie in ${name} that nobody could handle. docs/operating.md, "Dead letters".`,
        }
      : {
          id: `Queue-${name}`,
          metric: inQueue(nameOf, name, "ApproximateAgeOfOldestMessage"),
          // A message that a worker was cut off with is this old when it is handed out again.
          from: visibilitySeconds + MINUTES_15,
          periods: 3,
          says: `${name} is not worked off: too few workers, or one that breaks. docs/operating.md, "Limits".`,
        };

const ofMoney: readonly Watch[] = [
  {
    id: "DueWork",
    metric: measures.dueAge,
    from: 300,
    periods: 5,
    says: "What crashes left is not repaired: look at the log of ScheduleReconcile.",
    silence: "rings",
  },
  {
    id: "MisplacedWork",
    metric: measures.dueMisplaced,
    from: 1,
    // Each of eight runs repairs one partition.
    periods: 15,
    says: "Due work stands later than it can have been put off to: a clock was wrong, and repairs do not mend it.",
    silence: "rings",
  },
  {
    id: "HeldCredits",
    metric: measures.heldLong,
    from: 1,
    periods: 5,
    says: "Credits have been held for over an hour: a job or a check does not come to its end.",
    silence: "rings",
  },
  {
    id: "Audit",
    metric: measures.auditViolations,
    from: 1,
    periods: 1,
    says: "A law of money is broken. Stop granting credits; the log of ScheduleAudit names account and law.",
    silence: "rings",
  },
];

const ofCallers = (nameOf: NameOf): readonly Watch[] => [
  {
    id: "Api5xx",
    metric: measures.ofApi(nameOf, "5xx", "Sum"),
    from: 10,
    periods: 3,
    says: "Callers are answered 500 and 503. The alarms of the Lambdas tell which.",
  },
  {
    id: "ApiLatency",
    metric: measures.ofApi(nameOf, "Latency", "p99"),
    from: 28_000,
    periods: 5,
    says: "Callers wait until API Gateway gives up.",
  },
  {
    id: "TableThrottled",
    metric: measures.throttledOf(nameOf),
    from: 100,
    periods: 3,
    says: 'DynamoDB refuses for lack of capacity. docs/operating.md, "Limits".',
  },
];

const ofEgress = (nameOf: NameOf): readonly Watch[] => [
  {
    id: "SmtpEgress",
    metric: measures.unreachedPercent,
    from: 50,
    periods: 3,
    says: "Most mail servers cannot be reached: port 25 is closed, or we are blocked. docs/egress.md.",
  },
  ...ZONES.map((zone) => ({
    id: `NatPorts${zone}`,
    metric: measures.ofNat(nameOf, zone, "ErrorPortAllocation"),
    from: 1,
    periods: 3,
    says: "A NAT gateway has no port left towards one server: fewer sessions at once, or more addresses.",
  })),
];

/** Everything that rings. */
export const watches = (nameOf: NameOf): readonly Watch[] => [
  ...ofCallers(nameOf),
  ...ofMoney,
  ...ofEgress(nameOf),
  ...queues.map(ofQueue(nameOf)),
  ...ofLambdas(nameOf),
];

export const silenceOf = ({ silence }: Watch): TreatMissingData =>
  silence === "rings" ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING;

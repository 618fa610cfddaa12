import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { AwsTransport } from "@mailproof/functions/aws/requests";
import type { SQSEvent } from "aws-lambda";

// A model of SQS fair queues, since no emulator has them: AWS's rule as "How Amazon SQS fair queues work" in its Developer
// Guide documents it (read in November 2026), below the SDK for those who send and in the place of Lambda's poller for
// those who receive. It is one process with exact thresholds. AWS's own are approximate, and it documents neither what
// "recent" is nor the order among quiet groups: here a minute, and the oldest first.

const SHARE = 0.1;
const IN_FLIGHT_LEAST = 30;
const RECENT_MS = 60_000;

/** The measures by which a group counts as noisy. AWS has both. */
export type NoisyMeasures = { readonly byInFlight: boolean; readonly byTime: boolean };
export const AWS_MEASURES: NoisyMeasures = { byInFlight: true, byTime: true };

type StoredMessage = {
  readonly id: string;
  readonly queue: string;
  readonly body: string;
  /** A message without a group is a group of its own. */
  readonly group: string;
  readonly hasGroup: boolean;
  visibleAtMs: number;
  receives: number;
  /** Since when it is in flight. */
  receivedAtMs: number | undefined;
};

type Entry = {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
  readonly MessageGroupId?: string;
};

type SendRequest = { readonly QueueUrl: string; readonly Entries: readonly Entry[] };

const readRequest = (body: string | Uint8Array = ""): SendRequest =>
  JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as SendRequest;

export const createFairQueues = (now: () => Date, measures: NoisyMeasures = AWS_MEASURES) => {
  const ms = () => now().getTime();
  const waiting = new Map<string, StoredMessage>();
  const inFlight = new Map<string, StoredMessage>();
  let ended: { readonly group: string; readonly from: number; readonly to: number }[] = [];
  const received: StoredMessage[] = [];

  const sendBatch = ({ QueueUrl, Entries }: SendRequest) => {
    for (const { MessageBody: body, DelaySeconds = 0, MessageGroupId } of Entries) {
      const id = randomUUID();
      waiting.set(id, {
        id,
        queue: QueueUrl.split("/").at(-1) ?? "",
        body,
        group: MessageGroupId ?? id,
        hasGroup: MessageGroupId !== undefined,
        visibleAtMs: ms() + DelaySeconds * 1_000,
        receives: 0,
        receivedAtMs: undefined,
      });
    }
    return { Successful: Entries.map(({ Id }) => ({ Id, MessageId: Id })), Failed: [] };
  };

  const transport: AwsTransport = async ({ body }) => ({
    statusCode: 200,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: Readable.from([Buffer.from(JSON.stringify(sendBatch(readRequest(body))))]),
  });

  /** How many messages of each group consumers hold, and how long they held them in the last minute. */
  const measureGroups = (queue: string) => {
    const counts = new Map<string, number>();
    const times = new Map<string, number>();
    const from = ms() - RECENT_MS;
    const add = (to: Map<string, number>, group: string, amount: number): void =>
      void to.set(group, (to.get(group) ?? 0) + amount);
    ended = ended.filter(({ to }) => to > from);
    for (const one of ended) add(times, one.group, one.to - Math.max(from, one.from));
    for (const one of inFlight.values()) {
      if (one.queue !== queue) continue;
      add(counts, one.group, 1);
      add(times, one.group, ms() - Math.max(from, one.receivedAtMs ?? 0));
    }
    return { counts, times };
  };

  const findNoisy = (queue: string) => {
    const { counts, times } = measureGroups(queue);
    const sum = (of: Map<string, number>) => [...of.values()].reduce((all, one) => all + one, 0);
    const [all, allMs] = [sum(counts), sum(times)];
    const isNoisy = (group: string): boolean => {
      const held = counts.get(group) ?? 0;
      return (
        (measures.byInFlight && held >= IN_FLIGHT_LEAST && held > SHARE * all) ||
        (measures.byTime && (times.get(group) ?? 0) > SHARE * allMs)
      );
    };
    return (group: string): number => (isNoisy(group) ? (counts.get(group) ?? 0) + 1 : 0);
  };

  const takeNext = (queue: string): StoredMessage | undefined => {
    const toNoise = findNoisy(queue);
    const noise = new Map<string, number>();
    let next: StoredMessage | undefined;
    for (const one of waiting.values()) {
      if (one.queue !== queue || one.visibleAtMs > ms()) continue;
      if (!noise.has(one.group)) noise.set(one.group, toNoise(one.group));
      const [own, least] = [noise.get(one.group) ?? 0, next && (noise.get(next.group) ?? 0)];
      // Of the same noise the oldest: a map keeps the order in which they were sent.
      if (least === undefined || own < least) next = one;
      if (own === 0) break;
    }
    return next;
  };

  const receive = (queue: string, max: number): readonly StoredMessage[] => {
    const found: StoredMessage[] = [];
    while (found.length < max) {
      const next = takeNext(queue);
      if (!next) break;
      waiting.delete(next.id);
      inFlight.set(next.id, next);
      Object.assign(next, { receives: next.receives + 1, receivedAtMs: ms() });
      found.push(next);
    }
    received.push(...found);
    return found;
  };

  const end = (id: string): StoredMessage | undefined => {
    const one = inFlight.get(id);
    inFlight.delete(id);
    if (one) ended.push({ group: one.group, from: one.receivedAtMs ?? 0, to: ms() });
    return one;
  };

  return {
    transport,
    /** What was received so far, in this order. */
    received,
    /** How many messages are left, in flight or not. */
    count: (): number => waiting.size + inFlight.size,
    /** The event that Lambda's poller calls the function with. */
    receive: (queue: string, max: number): SQSEvent => ({
      Records: receive(queue, max).map(({ id, body, receives }) => ({
        messageId: id,
        receiptHandle: id,
        body,
        attributes: {
          ApproximateReceiveCount: String(receives),
          SentTimestamp: "0",
          SenderId: "model",
          ApproximateFirstReceiveTimestamp: "0",
        },
        messageAttributes: {},
        md5OfBody: "",
        eventSource: "aws:sqs",
        eventSourceARN: `arn:aws:sqs:eu-central-1:123456789012:${queue}`,
        awsRegion: "eu-central-1",
      })),
    }),
    acknowledge: (id: string): void => void end(id),
    release: (id: string, seconds: number): void => {
      const one = end(id);
      if (one) waiting.set(id, Object.assign(one, { visibleAtMs: ms() + seconds * 1_000 }));
    },
  };
};

import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { MailproofError } from "@mailproof/client/errors";
import type { ListEventsData } from "@mailproof/client/types";
import { toEventBody, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { generateSecret, signHeaders } from "@mailproof/core/webhooks/signature";
import * as v from "valibot";
import { matching, ServiceUrl } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import {
  type CommandInput,
  defineCommand,
  describeOption,
  Flag,
  UsageError,
} from "./define-command.ts";
import { EXIT_CODES, getExitCode } from "./exit-codes.ts";
import { writeNote } from "./notes.ts";
import { QUIET, requireService, SERVICE, type Service, watchInterrupt } from "./service.ts";

const WAIT_SECONDS = 25;
/** The pause after a failure of the service, and between two immediate responses without an event. */
const PAUSE_MS = 2_000;
const RESPONSE_TIMEOUT_MS = 10_000;

const EventNames = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((one) => one.trim())),
  v.array(v.picklist(WEBHOOK_EVENT_TYPES, `must be a list of ${WEBHOOK_EVENT_TYPES.join(", ")}`)),
);
const Secret = matching(
  /^whsec_[\w+/=-]{20,}$/,
  "must be a signing secret such as whsec_… in base64",
);

const Options = v.strictObject({
  "forward-to": describeOption(v.optional(ServiceUrl), "the URL, as an option", { value: "URL" }),
  events: describeOption(
    v.optional(EventNames),
    "only these events, separated by commas (default: all)",
    { value: "NAME,…" },
  ),
  secret: describeOption(
    v.optional(Secret),
    "signs with this secret (default: a new one, which is printed)",
    { value: "whsec_…" },
  ),
  json: describeOption(Flag, "prints each event as JSON, also on a terminal"),
  ...QUIET,
  ...SERVICE,
});

const USAGE = "URL [options]";

/** Forwards an account's events to a program in development. No webhook loses its deliveries. */
export const listenCommand = defineCommand({
  usage: USAGE,
  options: Options,
  examples: [
    "listen http://localhost:3000/hooks",
    "listen http://localhost:3000/hooks --events job.completed,credits.low",
  ],
  takesWords: true,
  async run(input) {
    const { options } = input;
    const url = readUrl(input);
    const service = requireService(input);
    const { signal, end } = watchInterrupt();
    const secret = options.secret ?? generateSecret({ randomBytes });
    try {
      const { cursor } = await service.client.listEvents({ wait: 0 }, { signal });
      writeNote(
        `Events of ${service.url} go to ${url}, signed with ${secret}. Ctrl-C ends this.\n`,
      );
      await forwardAll(service, cursor, { ...options, url, secret }, signal);
      return EXIT_CODES.interrupted.code;
    } finally {
      end();
    }
  },
});

const readUrl = ({ options, words }: CommandInput<typeof Options>): string => {
  const [url, ...others] = [...words, options["forward-to"]].filter((one) => one !== undefined);
  if (url === undefined || others.length > 0)
    throw new UsageError(`Name one URL. Usage: ${PROGRAM} listen ${USAGE}`);
  const read = v.safeParse(ServiceUrl, url);
  if (!read.success) throw new UsageError(`The URL ${read.issues[0].message}.`);
  return read.output;
};

type Forwarding = {
  readonly url: string;
  readonly secret: string;
  readonly events?: readonly string[] | undefined;
  readonly json: boolean;
};

const forwardAll = async (
  service: Service,
  from: string,
  forwarding: Forwarding,
  signal: AbortSignal,
): Promise<void> => {
  let cursor = from;
  while (!signal.aborted) {
    const startedMs = performance.now();
    const page = await readPage(service, cursor, signal);
    const isWanted = ({ type }: Event) => forwarding.events?.includes(type) ?? true;
    for (const event of page?.events.filter(isWanted) ?? []) await forward(event, forwarding);
    cursor = page?.cursor ?? cursor;
    const isAtOnce = performance.now() - startedMs < PAUSE_MS && !page?.events.length;
    if (isAtOnce && !signal.aborted)
      await setTimeout(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
};

const readPage = async (
  { client }: Service,
  after: string,
  signal: AbortSignal,
): Promise<ListEventsData | undefined> => {
  try {
    return await client.listEvents({ after, wait: WAIT_SECONDS }, { signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    const isPassing =
      error instanceof MailproofError && getExitCode(error) === EXIT_CODES.unavailable.code;
    if (!isPassing) throw error;
    process.stderr.write(`${error.message} Trying again.\n`);
    return undefined;
  }
};

type Event = ListEventsData["events"][number];

/** Sends an event only once: a developer repeats a failed event by hand, while a webhook's receiver gets retries from the service. */
const forward = async (event: Event, { url, secret, json }: Forwarding): Promise<void> => {
  const { id, type, created_at: createdAt, data } = event;
  const body = toEventBody({ id, type, createdAt, data });
  const startedMs = performance.now();
  const outcome = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...signHeaders({ id, body, at: new Date() }, secret),
    },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  }).then(
    async (response) => {
      await response.arrayBuffer().catch(() => undefined);
      return { status: response.status, error: null };
    },
    (error: Error) => ({ status: null, error: describeError(error) }),
  );
  const ms = Math.round(performance.now() - startedMs);
  const isText = process.stdout.isTTY && !json;
  const line = isText
    ? `${createdAt}  ${type.padEnd(18)}  ${id}  ${outcome.status ?? outcome.error}  ${ms} ms`
    : JSON.stringify({ id, type, created_at: createdAt, data, ...outcome, latency_ms: ms });
  process.stdout.write(`${line}\n`);
};

/** fetch puts the reason into the error's cause. */
const describeError = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message || cause.name}` : message;

import { setTimeout } from "node:timers/promises";
import { type Client, MailproofError } from "@mailproof/client/index";
import { getPeople } from "@mailproof/lab/companies";
import { LAB_ZONE } from "@mailproof/lab/lab";
import { createRandom } from "../simulation/random.ts";
import {
  type Chance,
  companyBy,
  drawBelow,
  type Expected,
  judge,
  oddities,
  pickEmail,
  pickOne,
} from "./truth.ts";

// What customers do, over and over, and the responses that they got: the price, and each address's result.

/** What a customer knows of the price of a request: a lost response leaves two bounds. */
export type PaidRange = { readonly least: number; readonly most: number };

type PaidResponse = { readonly credits_used: number; readonly idempotent_replay?: boolean };
type ActionResult = PaidRange & {
  /** Answers whose truth is known, and those among them that are left open. */
  readonly asked?: number;
  readonly undecided?: number;
  /** Of jobs, whose end a client sees only when it looks. */
  readonly tookMs?: number;
  /** What it was, where that decides how long it takes. */
  readonly name?: string;
};
type Action = (client: Client, chance: Chance, hook: string) => Promise<ActionResult>;

const NOTHING: PaidRange = { least: 0, most: 0 };

/** A replay was paid for by the answer that was lost. */
const getPaid = (response: PaidResponse, most: number, least = most): PaidRange =>
  response.idempotent_replay
    ? { least, most }
    : { least: response.credits_used, most: response.credits_used };

/** Of single addresses many are gone; of a list few, or the limits of a day would be met in half an hour. */
const MISSING_SHARES = { single: 0.25, list: 0.02 };

type Answered = { readonly email: string; readonly status: string };

/** Throws where a response is not true. */
const held = (expected: readonly Expected[], rows: readonly Answered[]) => {
  const byEmail = new Map(rows.map(({ email, status }) => [email.toLowerCase(), status]));
  const judged = expected.map((one) => {
    const status = byEmail.get(one.email.toLowerCase()) ?? "missing";
    return { ...one, reported: status, judged: judge(one.status, status) };
  });
  const lie = judged.find((one) => one.judged === "wrong");
  if (lie) throw new Lie(`${lie.email} was reported as ${lie.reported}, and is ${lie.status}`);
  const undecided = judged.filter((one) => one.judged === "undecided").length;
  return { asked: expected.length, undecided };
};

/** An answer that is not so. */
class Lie extends Error {}

const verify: Action = async (client, chance) => {
  const isOdd = chance() < 0.05;
  const one = isOdd ? pickOne(oddities, chance) : pickEmail(chance, MISSING_SHARES.single);
  const response = await client.verifyEmail({ email: one.email, options: { timeout_ms: 2_000 } });
  // In other words the same address: it is not looked up by the letters that came.
  const counted = held([one], [{ email: one.email, status: response.status }]);
  // Nearly one in a hundred verifications waits for a host until its time is up: beside the others it would be their p99.
  return { ...getPaid(response, 1, 0.5), ...(isOdd ? { name: "verify, odd hosts" } : counted) };
};

const EXISTING: Expected = { email: `ada.lovelace@valid.${LAB_ZONE}`, status: "valid" };

const verifyCached: Action = async (client) => {
  const response = await client.verifyEmail({ email: EXISTING.email });
  return {
    ...getPaid(response, 1, 0.5),
    ...held([EXISTING], [{ email: EXISTING.email, status: response.status }]),
  };
};

/** Each address once. */
const peopleBy = (chance: Chance, count: number): readonly Expected[] => [
  ...new Map(
    Array.from({ length: count }, () => pickEmail(chance, MISSING_SHARES.list)).map((one) => [
      one.email,
      one,
    ]),
  ).values(),
];

type Ended = { readonly created_at: string; readonly completed_at?: string };

const jobMs = ({ created_at, completed_at = created_at }: Ended): number =>
  Date.parse(completed_at) - Date.parse(created_at);

const batch: Action = async (client, chance) => {
  const people = peopleBy(chance, 20 + drawBelow(chance, 60));
  const response = await client.verifyBatch({ emails: people.map(({ email }) => email) });
  const job = await client.waitForJob({ id: response.job_id });
  const rows = await Array.fromAsync(client.results({ id: response.job_id }));
  if (rows.length !== people.length)
    throw new Error(`${response.job_id} has ${rows.length} rows of ${people.length}`);
  const { least, most } = getPaid(response, people.length);
  const refunded = job.credits_refunded ?? 0;
  return { least: least - refunded, most, ...held(people, rows), tookMs: jobMs(job) };
};

const file: Action = async (client, chance) => {
  const people = peopleBy(chance, 100 + drawBelow(chance, 400));
  const list = people.map(({ email }, at) => `${email},${at}`).join("\n");
  const done = await client.verifyFile(new Blob([`email,number\n${list}\n`]));
  const { stream } = await done.download();
  let lines = 0;
  for await (const piece of stream)
    lines += piece.reduce((sum, byte) => sum + Number(byte === 10), 0);
  if (lines < people.length) throw new Error(`${done.job.job_id} has ${lines} lines`);
  const rows = await Array.fromAsync(done.results());
  const { unique_emails } = done.accepted;
  // A request that takes over from a killed server gets the price again.
  const refunded = (done.accepted.credits_refunded ?? 0) + (done.job.credits_refunded ?? 0);
  const paid = { least: unique_emails - refunded, most: unique_emails };
  return { ...paid, ...held(people, rows), tookMs: jobMs(done.job) };
};

const check: Action = async (client, chance) => {
  const domain = `${pickOne(["good", "weak", "parked", "watching"], chance)}.senders.${LAB_ZONE}`;
  return getPaid(await client.checkDomain({ domain, refresh: chance() < 0.2 }), 10, 0);
};

const find: Action = async (client, chance) => {
  const { domain } = companyBy(chance);
  const { first, last, local } = pickOne(getPeople(domain), chance);
  const response = await client.findEmail({ first_name: first, last_name: last, domain });
  if (response.status === "valid" && response.email !== `${local}@${domain}`)
    throw new Lie(`${first} ${last} was found at ${response.email}, and has ${local}@${domain}`);
  return getPaid(response, 5, 0);
};

const activity: Action = async (client, chance) => {
  const events = Array.from({ length: 20 }, () => ({
    id: crypto.randomUUID(),
    type: pickOne(["open", "click", "delivery"] as const, chance),
    email: pickEmail(chance, 0).email,
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
  }));
  await client.recordActivity({ events });
  await client.getActivityBatch({ emails: events.map(({ email }) => email) });
  return NOTHING;
};

const look: Action = async (client) => {
  await Promise.all([client.getAccount(), client.getUsage({}), client.listJobs({ limit: 20 })]);
  await client.listChecks({ limit: 20 });
  return NOTHING;
};

const subscribe: Action = async (client, _chance, url) => {
  const { id } = await client.createWebhook({ url, events: ["job.completed"] });
  await client.testWebhook({ id });
  await client.listDeliveries({ id });
  await client.deleteWebhook({ id });
  return NOTHING;
};

/** A senseless request is refused, and costs nothing. */
const sendNonsense: Action = async (client, chance) => {
  const wrong: readonly (() => Promise<unknown>)[] = [
    () => client.verifyEmail({ email: "" }),
    () => client.getJob({ id: "job_of_nobody" }),
    () => client.verifyBatch({ emails: [] }),
    () => client.processFile({ file_key: "uploads/of/nobody.csv" }),
  ];
  const response = await pickOne(wrong, chance)().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (response instanceof MailproofError && response.money === "nothing_charged") return NOTHING;
  throw new Error("nonsense was not refused for nothing", { cause: response });
};

/** The client leaves before the response. What that cost is unknown. */
const leave: Action = async (client, chance) => {
  const signal = AbortSignal.timeout(1 + drawBelow(chance, 30));
  await client
    .verifyEmail({ email: pickEmail(chance, 0).email }, { signal })
    .catch(() => undefined);
  return { least: 0, most: 1 };
};

/** In a hundred requests. */
const ACTIONS: readonly (readonly [share: number, name: string, doing: Action])[] = [
  [40, "verify", verify],
  [25, "verify from cache", verifyCached],
  [3, "batch", batch],
  [2, "file", file],
  [4, "check", check],
  [4, "find", find],
  [5, "activity", activity],
  [8, "look", look],
  [1, "subscribe", subscribe],
  [4, "nonsense", sendNonsense],
  [4, "leave", leave],
];

const drawAction = (chance: Chance): readonly [name: string, doing: Action] => {
  let left = chance() * 100;
  for (const [share, name, action] of ACTIONS) {
    left -= share;
    if (left < 0) return [name, action];
  }
  return ["look", look];
};

export type Done = {
  readonly name: string;
  readonly tookMs: number;
  /** From the first request to the last response; of a job longer than it took, because a client looks now and then. */
  readonly spentMs: number;
  readonly paid: PaidRange;
  readonly asked: number;
  readonly undecided: number;
  /** What went otherwise than it should, in words. */
  readonly wrong: string | null;
  /** An address was reported with a wrong status. */
  readonly isLie: boolean;
};

const PRICE_MAX = 500;

/** A failure that says what it cost is not a fault, as long as servers are being killed; all else is. */
const boundsIn = (error: unknown): PaidRange => {
  const isFree =
    error instanceof MailproofError &&
    (error.money === "nothing_charged" || error.money === "refunded");
  return isFree ? NOTHING : { least: 0, most: PRICE_MAX };
};

const getWords = (error: unknown): string =>
  error instanceof MailproofError
    ? `${error.code} (${error.money}): ${error.message}`
    : error instanceof Error
      ? error.message
      : "something was thrown";

/** Sends one request after another, with a pause between them, until the soak ends. */
export const runCustomer = async (
  client: Client,
  {
    seed,
    hook,
    pauseMs,
  }: { readonly seed: number; readonly hook: string; readonly pauseMs: number },
  report: (done: Done) => void,
  isOver: () => boolean,
): Promise<void> => {
  const chance = createRandom(seed);
  while (!isOver()) {
    const [name, action] = drawAction(chance);
    const from = performance.now();
    const result: ActionResult & Pick<Done, "wrong" | "isLie"> = await action(
      client,
      chance,
      hook,
    ).then(
      (done) => ({ ...done, wrong: null, isLie: false }),
      (error: unknown) => ({
        ...boundsIn(error),
        wrong: getWords(error),
        isLie: error instanceof Lie,
      }),
    );
    const { least, most, asked = 0, undecided = 0, wrong, isLie, name: kind = name } = result;
    const spentMs = performance.now() - from;
    const tookMs = result.tookMs ?? spentMs;
    report({ name: kind, tookMs, spentMs, paid: { least, most }, asked, undecided, wrong, isLie });
    await setTimeout(chance() * 2 * pauseMs);
  }
};

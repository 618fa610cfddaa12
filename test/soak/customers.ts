import { setTimeout } from "node:timers/promises";
import { type Client, MailproofError } from "@mailproof/client/index";
import { companyLabel, peopleOf } from "@mailproof/local/lab/companies";
import { allDomains } from "@mailproof/local/lab/domains";
import { LAB_ZONE } from "@mailproof/local/lab/lab";
import { chanceOf } from "../simulation/chance.ts";

// What customers do, over and over, and what they were told that it cost.

/** What somebody knows of the price of what they asked for: a lost answer leaves them with two bounds. */
export type Paid = { readonly least: number; readonly most: number };

type Chance = () => number;
type Told = { readonly credits_used: number; readonly idempotent_replay?: boolean };
type Doing = (client: Client, chance: Chance, hook: string) => Promise<Paid>;

const NOTHING: Paid = { least: 0, most: 0 };

/** A replay was paid for by the answer that was lost. */
const paidBy = (told: Told, most: number, least = most): Paid =>
  told.idempotent_replay ? { least, most } : { least: told.credits_used, most: told.credits_used };

const below = (chance: Chance, most: number): number => Math.floor(chance() * most);
const oneOf = <T>(all: readonly T[], chance: Chance): T => all[below(chance, all.length)] as T;

/** People of the lab's companies; every fourth is nobody there, and some are asked for again and again. */
const someone = (chance: Chance): string => {
  const domain = `${companyLabel(1 + below(chance, 500))}.companies.${LAB_ZONE}`;
  const known = oneOf(peopleOf(domain), chance)?.local ?? "info";
  return chance() < 0.25
    ? `nobody${below(chance, 1_000_000)}@${domain}`
    : `${known}${chance() < 0.5 ? "" : `+${below(chance, 1_000_000)}`}@${domain}`;
};

/** One of every situation that the lab has: hosts that hang up, put off, lie, or say nothing at all. */
const oddities = allDomains.flatMap(({ name, examples }) =>
  examples.map(([local]) => `${local}@${name}.${LAB_ZONE}`),
);

const verify: Doing = async (client, chance) => {
  const email = chance() < 0.05 ? oneOf(oddities, chance) : someone(chance);
  return paidBy(await client.verify({ email, options: { timeout_ms: 2_000 } }), 1, 0.5);
};

const verifyKnown: Doing = async (client) =>
  paidBy(await client.verify({ email: `ada.lovelace@valid.${LAB_ZONE}` }), 1, 0.5);

const batch: Doing = async (client, chance) => {
  const emails = [
    ...new Set(Array.from({ length: 20 + below(chance, 60) }, () => someone(chance))),
  ];
  const told = await client.verifyBatch({ emails });
  await client.waitForJob({ id: told.job_id });
  const rows = await Array.fromAsync(client.results({ id: told.job_id }));
  if (rows.length !== emails.length)
    throw new Error(`${told.job_id} has ${rows.length} rows of ${emails.length}`);
  return paidBy(told, emails.length);
};

const file: Doing = async (client, chance) => {
  const rows = Array.from({ length: 100 + below(chance, 400) }, () => someone(chance));
  const list = new Blob([
    `email,number\n${rows.map((email, at) => `${email},${at}`).join("\n")}\n`,
  ]);
  const done = await client.verifyFile(list);
  const { stream } = await done.download();
  let lines = 0;
  for await (const piece of stream)
    lines += piece.reduce((sum, byte) => sum + Number(byte === 10), 0);
  const { unique_emails } = done.accepted;
  if (lines < unique_emails) throw new Error(`${done.job.job_id} has ${lines} lines`);
  // Who takes over from a server that was killed is told the price again.
  const refunded = done.accepted.credits_refunded ?? 0;
  return { least: unique_emails - refunded, most: unique_emails };
};

const check: Doing = async (client, chance) => {
  const domain = `${oneOf(["good", "weak", "parked", "watching"], chance)}.senders.${LAB_ZONE}`;
  return paidBy(await client.checkDomain({ domain, refresh: chance() < 0.2 }), 10, 0);
};

const find: Doing = async (client, chance) => {
  const domain = `${companyLabel(1 + below(chance, 500))}.companies.${LAB_ZONE}`;
  const { first, last } = oneOf(peopleOf(domain), chance);
  return paidBy(await client.find({ first_name: first, last_name: last, domain }), 5, 0);
};

const activity: Doing = async (client, chance) => {
  const events = Array.from({ length: 20 }, () => ({
    id: crypto.randomUUID(),
    type: oneOf(["open", "click", "delivery"] as const, chance),
    email: someone(chance),
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
  }));
  await client.recordActivity({ events });
  await client.getActivities({ emails: events.map(({ email }) => email) });
  return NOTHING;
};

const look: Doing = async (client) => {
  await Promise.all([client.getAccount(), client.getUsage({}), client.listJobs({ limit: 20 })]);
  await client.listChecks({ limit: 20 });
  return NOTHING;
};

const subscribe: Doing = async (client, _chance, url) => {
  const { id } = await client.createWebhook({ url, events: ["job.completed"] });
  await client.testWebhook({ id });
  await client.listDeliveries({ id });
  await client.deleteWebhook({ id });
  return NOTHING;
};

/** Whoever asks for nonsense is told so, and pays nothing. */
const nonsense: Doing = async (client, chance) => {
  const wrong: readonly (() => Promise<unknown>)[] = [
    () => client.verify({ email: "" }),
    () => client.getJob({ id: "job_of_nobody" }),
    () => client.verifyBatch({ emails: [] }),
    () => client.processFile({ file_key: "uploads/of/nobody.csv" }),
  ];
  const told = await oneOf(wrong, chance)().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (told instanceof MailproofError && told.money === "nothing_charged") return NOTHING;
  throw new Error("nonsense was not refused for nothing", { cause: told });
};

/** Gone before the answer came. What that cost nobody knows. */
const leave: Doing = async (client, chance) => {
  const signal = AbortSignal.timeout(1 + below(chance, 30));
  await client.verify({ email: someone(chance) }, { signal }).catch(() => undefined);
  return { least: 0, most: 1 };
};

/** In a hundred wishes. */
const WISHES: readonly (readonly [share: number, name: string, doing: Doing])[] = [
  [40, "verify", verify],
  [25, "verify from cache", verifyKnown],
  [3, "batch", batch],
  [2, "file", file],
  [4, "check", check],
  [4, "find", find],
  [5, "activity", activity],
  [8, "look", look],
  [1, "subscribe", subscribe],
  [4, "nonsense", nonsense],
  [4, "leave", leave],
];

const wished = (chance: Chance): readonly [name: string, doing: Doing] => {
  let left = chance() * 100;
  for (const [share, name, doing] of WISHES) {
    left -= share;
    if (left < 0) return [name, doing];
  }
  return ["look", look];
};

export type Done = {
  readonly name: string;
  readonly tookMs: number;
  readonly paid: Paid;
  /** What went otherwise than it should, in words. */
  readonly wrong: string | null;
};

const PRICE_MAX = 500;

/** A failure that says what it cost is no fault, as long as servers are being killed; all else is. */
const paidInSpite = (error: unknown): { readonly paid: Paid; readonly wrong: string | null } => {
  if (!(error instanceof MailproofError))
    return { paid: { least: 0, most: PRICE_MAX }, wrong: wordsOf(error) };
  const isFree = error.money === "nothing_charged" || error.money === "refunded";
  return { paid: isFree ? NOTHING : { least: 0, most: PRICE_MAX }, wrong: wordsOf(error) };
};

const wordsOf = (error: unknown): string =>
  error instanceof MailproofError
    ? `${error.code} (${error.money}): ${error.message}`
    : error instanceof Error
      ? error.message
      : "something was thrown";

/** Goes through one wish after another, with a pause between them, until it is over. */
export const customer = async (
  client: Client,
  {
    seed,
    hook,
    pauseMs,
  }: { readonly seed: number; readonly hook: string; readonly pauseMs: number },
  tell: (done: Done) => void,
  isOver: () => boolean,
): Promise<void> => {
  const chance = chanceOf(seed);
  while (!isOver()) {
    const [name, doing] = wished(chance);
    const from = performance.now();
    const came = await doing(client, chance, hook).then(
      (paid) => ({ paid, wrong: null }),
      paidInSpite,
    );
    tell({ name, tookMs: performance.now() - from, ...came });
    await setTimeout(chance() * 2 * pauseMs);
  }
};

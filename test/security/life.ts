import { crc32 } from "node:zlib";
import { mintKey } from "@mailproof/core/access/keys";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { anEvent } from "../activity.ts";
import { given } from "../given.ts";
import { csvOf, givenUpload, processOf } from "../jobs.ts";
import { send } from "../send.ts";
import { chanceOf } from "../simulation/chance.ts";
import { whenWorked } from "../working.ts";

/** What an account comes to own, by the names that others could ask for it with. */
export type Things = {
  readonly job: string;
  readonly fileJob: string;
  readonly check: string;
  readonly monitor: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly keyId: string;
  readonly fileKey: string;
  readonly nextKey: string;
  readonly offset: string;
  /** Under which it has sent what costs. */
  readonly idempotencyKey: string;
};

export type House = Awaited<ReturnType<typeof given>>;

/** Ids and bits of one's own, whatever others have made before: so that two houses can be compared letter by letter. */
export const apart = (world: AppWorld, name: string): AppWorld => {
  const ids = new Map<string, number>();
  const chance = chanceOf(crc32(name));
  return {
    ...world,
    newId: (prefix) => {
      ids.set(prefix, (ids.get(prefix) ?? 0) + 1);
      return `${prefix}_${name}${ids.get(prefix)}`;
    },
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(chance() * 256)),
    random: chance,
  };
};

/** Three addresses at a domain that nobody else writes to. */
const listOf = (name: string): string[] => [1, 2, 3].map((n) => `kim${n}@${name}.example`);

/** Everything that an account can do is done once. What it leaves behind is told. */
export const live = async (
  { world, queue }: Pick<House, "world" | "queue">,
  key: string,
  name: string,
): Promise<Things> => {
  const own = apart(world, name);
  const domain = `${name}.example`;
  const list = listOf(name);
  const [email = ""] = list;
  const post = async (route: string, body: unknown, idempotencyKey?: string) => {
    const headers = idempotencyKey ? { "idempotency-key": idempotencyKey } : {};
    const told = await send(own, `POST /v1/${route}`, { key, body, headers });
    if (told.statusCode >= 300) throw new Error(`${route}: ${told.text}`);
    return told.data;
  };
  const idempotencyKey = `key-of-${name}`;
  const webhook = await post("webhooks", { url: "https://h.example/", events: ["job.completed"] });
  await post("verify", { email }, idempotencyKey);
  const batch = await post("verify/batch", { emails: list }, idempotencyKey);
  const fileKey = await givenUpload({ world: own }, key, csvOf(list));
  const file = await post("verify/file", processOf(fileKey), idempotencyKey);
  await post("find", { first_name: "Kim", last_name: "Lee", domain });
  const check = await post("deliverability/check", { domain }, idempotencyKey);
  const monitor = await post("deliverability/monitors", { domain });
  // What test keys tell of activity is made up, and nothing is kept of it.
  await post("activity/events", {
    events: [anEvent("open", 2, { id: `event-of-${name}`, email })],
  });
  const { key_id: keyId } = await post("api-keys", { name: "Kim's", mode: modeOf(key) });
  await whenWorked({ world: own, queue });
  const read = async (path: string) => (await send(own, `GET /v1/${path}`, { key })).data;
  const page = await send(own, `GET /v1/jobs/${batch.job_id}`, { key, query: { limit: "1" } });
  const jobs = await send(own, "GET /v1/jobs", { key, query: { limit: "1" } });
  const { deliveries } = await read(`webhooks/${webhook.id}/deliveries`);
  return {
    job: batch.job_id,
    fileJob: file.job_id,
    check: check.check_id,
    monitor: monitor.monitor_id,
    webhook: webhook.id,
    delivery: deliveries[0].id,
    keyId,
    fileKey,
    nextKey: page.data.next_key,
    offset: jobs.data.next_offset,
    idempotencyKey,
  };
};

export const modeOf = (key: string): "live" | "test" =>
  key.startsWith("mp_test_") ? "test" : "live";

/** Two accounts, of which the second has nothing but its keys. */
export const givenTwo = async () => {
  const house = await given({ balance: 1_000 });
  const opening = credits(1_000);
  const other = await openAccount(house.world, { name: "Bob", plan: "pro", opening });
  return { ...house, other };
};

/** A key of the right form that was never anybody's. */
export const nobodysKey = (world: AppWorld): string =>
  mintKey(apart(world, "nobody"), { account: "acc_9", name: "x", mode: "live", scopes: null })
    .secret;

import { crc32 } from "node:zlib";
import { programEndpoints } from "@mailproof/api/endpoints";
import { EXAMPLES } from "@mailproof/api/openapi/examples";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { mintKey } from "@mailproof/core/accounts/api-keys";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createRandom } from "../simulation/random.ts";
import { createEvent } from "../things/activity.ts";
import { createProcessRequest, formatCsv, givenUpload } from "../things/jobs.ts";
import { createMail, whenMailArrives } from "../things/mail-tests.ts";
import { createDailyReport } from "../things/reports.ts";

/** What an account comes to own, by the names that others could ask for it with. */
export type OwnedThings = {
  readonly job: string;
  readonly fileJob: string;
  readonly check: string;
  readonly monitor: string;
  readonly mailTest: string;
  readonly testOffset: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly keyId: string;
  readonly fileKey: string;
  readonly nextKey: string;
  readonly offset: string;
  /** Under which it has sent what costs. */
  readonly idempotencyKey: string;
};

export type TestContext = Awaited<ReturnType<typeof given>>;

/** Ids and random bits that do not depend on other worlds, so that two apps can be compared letter by letter. */
export const isolateIds = (world: AppWorld, name: string): AppWorld => {
  const ids = new Map<string, number>();
  const chance = createRandom(crc32(name));
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

/** Three addresses at a domain that no other test uses. */
const listOf = (name: string): string[] => [1, 2, 3].map((n) => `kim${n}@${name}.example`);

/** Does everything that an account can do once, and returns the ids that it leaves. */
export const useEverything = async (
  { world, queue }: Pick<TestContext, "world" | "queue">,
  key: string,
  name: string,
): Promise<OwnedThings> => {
  const own = isolateIds(world, name);
  const domain = `${name}.example`;
  const list = listOf(name);
  const [email = ""] = list;
  const post = async (route: string, body: unknown, idempotencyKey?: string) => {
    const headers = idempotencyKey ? { "idempotency-key": idempotencyKey } : {};
    const response = await send(own, `POST /v1/${route}`, { key, body, headers });
    if (response.statusCode >= 300) throw new Error(`${route}: ${response.text}`);
    return response.data;
  };
  const idempotencyKey = `key-of-${name}`;
  const webhook = await post("webhooks", { url: "https://h.example/", events: ["job.completed"] });
  await post("verify", { email }, idempotencyKey);
  const batch = await post("verify/batch", { emails: list }, idempotencyKey);
  const fileKey = await givenUpload({ world: own }, key, formatCsv(list));
  const file = await post("verify/file", createProcessRequest(fileKey), idempotencyKey);
  await post("find", { first_name: "Kim", last_name: "Lee", domain });
  const check = await post("deliverability/check", { domain }, idempotencyKey);
  const monitor = await post("deliverability/monitors", { domain });
  await post("deliverability/tests", undefined);
  const mailTest = await post("deliverability/tests", undefined, idempotencyKey);
  if (getMode(key) === "live") {
    const mail = createMail(own.now(), { from: `kim@${domain}` });
    await whenMailArrives(own, mailTest.address, mail);
  }
  await post("deliverability/reports", createReportBody(name));
  // What test keys tell of activity is made up, and nothing is kept of it.
  await post("activity/events", {
    events: [createEvent("open", 2, { id: `event-of-${name}`, email })],
  });
  const { key_id: keyId } = await post("api-keys", { name: "Kim's", mode: getMode(key) });
  await whenWorked({ world: own, queue });
  const read = async (path: string) => (await send(own, `GET /v1/${path}`, { key })).data;
  const page = await send(own, `GET /v1/jobs/${batch.job_id}`, { key, query: { limit: "1" } });
  const jobs = await send(own, "GET /v1/jobs", { key, query: { limit: "1" } });
  const tests = await send(own, "GET /v1/deliverability/tests", { key, query: { limit: "1" } });
  const { deliveries } = await read(`webhooks/${webhook.id}/deliveries`);
  return {
    job: batch.job_id,
    fileJob: file.job_id,
    check: check.check_id,
    monitor: monitor.monitor_id,
    mailTest: mailTest.test_id,
    testOffset: tests.data.next_offset,
    webhook: webhook.id,
    delivery: deliveries[0].id,
    keyId,
    fileKey,
    nextKey: page.data.next_key,
    offset: jobs.data.next_offset,
    idempotencyKey,
  };
};

/** A report about the domain of an account. */
export const createReportBody = (name: string) => ({
  content: Buffer.from(createDailyReport({ domain: `${name}.example` })).toString("base64"),
});

export const getMode = (key: string): "live" | "test" =>
  key.startsWith("mp_test_") ? "test" : "live";

/** Two accounts, of which the second has nothing but its keys. */
export const setupTwoAccounts = async () => {
  const ctx = await given({ balance: 1_000 });
  const opening = credits(1_000);
  const other = await openAccount(ctx.world, { name: "Bob", plan: "pro", opening });
  return { ...ctx, other };
};

/** A key of the right form that never existed. */
export const createUnknownKey = (world: AppWorld): string =>
  mintKey(isolateIds(world, "nobody"), { account: "acc_9", name: "x", mode: "live", scopes: null })
    .secret;

/** A body that a route takes, as its last example in the document, with a file of the caller's own and no callback. */
export const createBody = async (
  route: string,
  ctx: TestContext,
  key: string,
): Promise<object | undefined> => {
  if (route === "POST /v1/verify/file")
    return createProcessRequest(await givenUpload(ctx, key, formatCsv(["ann@secret.example"])));
  const example = EXAMPLES.findLast((one) => one.route === route && one.status < 400);
  return example?.request as object | undefined;
};

export const routesWithBody = programEndpoints.filter(({ body }) => body).map(({ route }) => route);

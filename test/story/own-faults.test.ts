import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import type { AppWorld } from "@mailproof/core/app-world";
import { workers } from "@mailproof/core/background/workers";
import { attributeDnsFaults } from "@mailproof/core/egress/own-faults";
import { storeReach } from "@mailproof/core/egress/reach";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import type { Dns } from "@mailproof/mail/dns/dns";
import type { WireFault } from "@mailproof/mail/smtp/wire";
import { describe, expect, test } from "vitest";
import { withDnsLookups } from "../app/dns-lookups.ts";
import { whenQuiet, whenReconciled } from "../app/drain-queues.ts";
import { rejectDown, withTable } from "../app/faulty-worlds.ts";
import { given, START } from "../app/given.ts";
import { listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, type TestResponse } from "../app/send.ts";
import { createZoneDns, type Zone } from "../app/zone.ts";
import {
  createProcessRequest,
  formatCsv,
  givenUpload,
  type TestContext,
  whenFiled,
} from "../things/jobs.ts";
import { createMail, whenMailArrives, whenTestCreated } from "../things/mail-tests.ts";
import { parseEvents, whenEventEmitted, whenPassed, whenSubscribed } from "../things/webhooks.ts";

// Each paid route with each fault of ours: nothing is charged, and nothing is said about the domain.

const SOUND: Zone = {
  com: { NS: ["a.gtld-servers.net"] },
  "firm.example": { MX: ["10 mx.firm.example"] },
  "mx.firm.example": { A: ["9.9.9.9"] },
};

type Network = {
  readonly dns: Dns;
  readonly connect?: WireFault;
  readonly reach?: "lab" | "dns_only";
};

const failAll =
  (kind: "timeout" | "servfail"): Dns =>
  async () => ({ kind });

/** Our faults of DNS, under which a caller who waits has no result. */
const DNS_FAULTS: Readonly<Record<string, Network>> = {
  "our resolver is dead": { dns: failAll("timeout") },
  "our resolver answers SERVFAIL to everything": { dns: failAll("servfail") },
  "the reach is lab and our resolver denies com": { dns: createZoneDns({}), reach: "lab" },
  "the reach is lab": { dns: createZoneDns({ ...SOUND, "firm.example": "REFUSED" }), reach: "lab" },
  "the reach is dns_only": {
    dns: createZoneDns({ ...SOUND, "firm.example": "TIMEOUT" }),
    reach: "dns_only",
  },
};

/** Our faults on the way to mail servers: the domain's DNS is known, its mailboxes are not. */
const MAIL_FAULTS: Readonly<Record<string, Network & { readonly reason: string }>> = {
  "port 25 is closed": {
    dns: createZoneDns(SOUND),
    connect: "connect_timeout",
    reach: "dns_only",
    reason: "no_smtp_egress",
  },
  "our exit is broken": {
    dns: createZoneDns(SOUND),
    connect: "proxy_failed",
    reason: "proxy_failed",
  },
};

const givenNetwork = async ({ dns: raw, connect, reach }: Network): Promise<TestContext> => {
  const ctx = await given({ balance: 100 });
  const { world } = ctx;
  const dns = attributeDnsFaults(raw, { ...world, trustsDenials: false });
  const engine = createEngine({
    ...world,
    dns,
    connect: async () => connect ?? "unreachable",
    lists: world.engine.lists,
    allowed: [],
    smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    slots: createLocalSlots(world),
  });
  if (reach) await storeReach(world, reach);
  return { ...ctx, world: withDnsLookups({ ...world, engine }, dns) };
};

const EMAIL = "ann@firm.example";

type Ask = (world: AppWorld, ctx: TestContext) => Promise<TestResponse>;

const post =
  (path: string, body: unknown): Ask =>
  (world, { liveKey: key }) =>
    send(world, `POST ${path}`, { key, body });

const WAITING: Readonly<Record<string, Ask>> = {
  verify: post("/v1/verify", { email: EMAIL }),
  "verify of a role address": post("/v1/verify", { email: "info@firm.example" }),
  find: post("/v1/find", { first_name: "Ann", last_name: "Lee", domain: "firm.example" }),
  check: post("/v1/deliverability/check", { domain: "firm.example" }),
};

const LATER: Readonly<Record<string, Ask>> = {
  batch: post("/v1/verify/batch", { emails: [EMAIL, "bob@firm.example"] }),
  file: async (world, ctx) => {
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv([EMAIL, "bob@firm.example"]));
    return whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));
  },
  form: post("/v1/verify/form", { email: EMAIL }),
  "mail test": async (world, ctx) => {
    const created = await whenTestCreated(world, ctx.liveKey);
    const mail = createMail(world.now(), { from: "news@firm.example" });
    if (created.data) await whenMailArrives(world, created.data.address, mail);
    return created;
  },
};

/** Every reason and sentence with which a domain or its servers would be blamed. */
const BLAME = /dns_inconclusive|connect_failed|domain_not_found|name server|DNS look-up failed/;

const thenFree = async (ctx: TestContext): Promise<void> => {
  expect(await readCredits(ctx)).toMatchObject({ available: 100, held: 0, spent: 0 });
  await thenConsistent(ctx);
};

const thenRetry = ({ headers, error, text }: TestResponse): void => {
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  expect(error).toMatchObject({ code: "UNAVAILABLE", money: "refunded", retryable: true });
  expect(text).not.toMatch(BLAME);
};

const readRows = async ({ world, liveKey: key }: TestContext): Promise<string> => {
  const { data } = await send(world, "GET /v1/jobs", { key });
  const pages = data.jobs.map(({ job_id: id }: { job_id: string }) =>
    send(world, `GET /v1/jobs/${id}`, { key }),
  );
  return (await Promise.all<TestResponse>(pages)).map(({ text }) => text).join("\n");
};

describe.each(Object.entries(DNS_FAULTS))("requests while %s", (_, network) => {
  test.each(Object.entries(WAITING))(
    "the request %s answers 503 and charges nothing",
    async (_of, ask) => {
      const ctx = await givenNetwork(network);

      const response = await ask(ctx.world, ctx);

      expect(response.statusCode).toBe(503);
      thenRetry(response);
      await thenFree(ctx);
    },
  );

  test.each(Object.entries(LATER))("the request %s ends without a charge", async (_of, ask) => {
    const ctx = await givenNetwork(network);

    const { statusCode, text } = await ask(ctx.world, ctx);
    await whenQuiet(ctx);

    expect(statusCode).toBeLessThan(300);
    expect(`${text}${await readRows(ctx)}`).not.toMatch(BLAME);
    await thenFree(ctx);
  });
});

describe.each(Object.entries(MAIL_FAULTS))("requests while %s", (_, { reason, ...network }) => {
  test("a search that needs a mail server answers 503 and charges nothing", async () => {
    const ctx = await givenNetwork(network);

    const response = await (WAITING["find"] as Ask)(ctx.world, ctx);

    expect(response.statusCode).toBe(503);
    thenRetry(response);
    await thenFree(ctx);
  });

  const { "mail test": _noSession, ...sessions } = LATER;
  const verify = WAITING["verify"] as Ask;
  test.each(Object.entries({ ...sessions, verify }))(
    "the request %s shows the domain's DNS with this reason and ends without a charge",
    async (_of, ask) => {
      const ctx = await givenNetwork(network);

      const { statusCode, text } = await ask(ctx.world, ctx);
      await whenQuiet(ctx);
      const shown = `${text}${await readRows(ctx)}`;

      expect(statusCode).toBeLessThan(300);
      expect(shown).toContain(`"${reason}"`);
      expect(shown).not.toMatch(BLAME);
      await thenFree(ctx);
    },
  );
});

test.each(Object.entries({ ...WAITING, ...LATER }))(
  "the request %s answers 503 with Retry-After while the table rejects writes",
  async (_of, ask) => {
    const ctx = await givenNetwork({ dns: createZoneDns(SOUND) });

    const refused = await ask(withTable(ctx, { transact: rejectDown }), ctx);

    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    await thenFree(ctx);
  },
);

// While no live session is open, SST's bridge acknowledges what the queues hand to it (docs/operating.md): messages are
// gone, and no worker has handled them. Work that is also due in the table is done all the same.

const whenBridgeAcknowledges = async ({ queue }: Pick<TestContext, "queue">): Promise<number> => {
  let count = 0;
  for (const worker of workers)
    for (;;) {
      const received = await queue.receive(worker.queue, { waitMs: 0 });
      if (received.length === 0) break;
      for (const { receipt } of received) await queue.acknowledge(receipt);
      count += received.length;
    }
  return count;
};

test("an event reaches its webhook within minutes after its delivery's message was lost", async () => {
  const ctx = await given({ balance: 10 });
  await whenSubscribed(ctx);
  await whenEventEmitted(ctx);
  ctx.later(60_000);
  await whenReconciled(ctx);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 5 * 60_000);

  expect(parseEvents(ctx.servers.received).map(({ type }) => type)).toEqual(["credits.low"]);
});

test("the service loses the activity in an Amazon SES report when the report's message is lost", async () => {
  const ctx = await given();
  const mail = {
    messageId: "0100",
    timestamp: START.toISOString(),
    destination: ["ann@x.com"],
    tags: { mailproof_account: [ctx.account] },
  };
  const delivery = { timestamp: START.toISOString(), recipients: ["ann@x.com"] };
  const before = listStoredItems(ctx).length;
  await ctx.queue.sendMany(ACTIVITY_QUEUE.name, [
    { body: { eventType: "Delivery", mail, delivery } },
  ]);
  expect(await whenBridgeAcknowledges(ctx)).toBe(1);

  await whenPassed(ctx, 60 * 60_000);

  expect(listStoredItems(ctx)).toHaveLength(before);
});

import { inspect } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { getAccount } from "@mailproof/api/endpoints/get-account";
import { verifyEmail } from "@mailproof/api/endpoints/verify-email";
import type { AppWorld } from "@mailproof/core/app-world";
import type { HttpsOutcome } from "@mailproof/core/ports/https";
import type { Worker } from "@mailproof/core/runtime/worker";
import { createProberHandler } from "@mailproof/functions/capabilities/prober";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { lambda } from "@mailproof/functions/lambda";
import { createLambdaLog } from "@mailproof/functions/log";
import { createMcpLambda } from "@mailproof/functions/mcp";
import { countCredits } from "@mailproof/functions/measure/credits";
import { countSessions, countVerification, observeWaits } from "@mailproof/functions/measure/mail";
import { countWebhookCalls } from "@mailproof/functions/measure/webhooks";
import { metrics } from "@mailproof/functions/metrics";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { createScheduleHandler } from "@mailproof/functions/schedule-handler";
import { toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext, createSqsEvent } from "../aws/events.ts";

// A process of Lambda: one invocation of each kind after the other. chain.test.ts runs it and reads what it writes, as
// CloudWatch would.

process.stderr.write = process.stdout.write.bind(process.stdout);

const { world: here, liveKey } = await given({ balance: 10 });
const world: AppWorld = { ...here, log: createLambdaLog() };
const gone = () => Promise.reject(new Error("the table is gone, ann@secret.example"));
const broken: AppWorld = { ...world, table: { ...world.table, get: gone, query: gone } };
const never = new Promise<never>(() => {});
const hanging: AppWorld = { ...world, table: { ...world.table, get: () => never } };
const keyHeader = ["x-api-key", liveKey] as const;
const jsonHeader = ["content-type", "application/json"] as const;

const accountEvent = toEvent({ method: "GET", url: "/v1/account", headers: [keyHeader] });
const verifyEvent = (headers: readonly (readonly [string, string])[], body: string) =>
  toEvent({ method: "POST", url: "/v1/verify", headers, body }, endpoints);

const picky: Worker = {
  needs: [],
  lambda: { batch: 1, concurrency: 1 },
  queue: { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 },
  handle: async (_world, body) => {
    if (body === "poison") throw new Error("this cannot be done, ann@secret.example");
  },
};
const batch = createSqsEvent(
  "chunks",
  [1, "poison"].map((body) => ({ receipt: `receipt of ${body}`, body, receiveCount: 2 })),
);
const every = (run: () => Promise<void>) => ({ name: "gauge", everySeconds: 60, run });
const countSession = () => metrics.count("mailproof_smtp_sessions_total", { outcome: "connected" });
const measure = async () => {
  metrics.set("mailproof_due_age_seconds", 7);
  countSession();
  countSession();
};
const connectAndWait = async () => {
  const connect = countSessions(async () => "connect_timeout");
  const target = { ip: "192.0.2.1", port: 25, host: "mx.secret.example" };
  await connect(target, { timeoutMs: 1, affinityKey: "a" });
  const ended = { outcome: "us", startedAtMs: 0, ms: 1, recipients: 1, answered: 1, traces: [] };
  observeWaits({ ...ended, provider: "google", waitsMs: Array.from({ length: 250 }, () => 500) });
};
const callWebhooks = async () => {
  const outcomes: HttpsOutcome[] = [
    { kind: "failed", why: "tls_failed" },
    {
      kind: "answer",
      status: 410,
      contentType: "",
      retryAfter: null,
      body: "",
      isComplete: true,
    },
  ];
  const check = async () => undefined;
  for (const outcome of outcomes) {
    const counted = countWebhookCalls({ check, call: async () => outcome });
    const request = { url: "https://secret.example/", headers: {} };
    await counted.call({ ...request, method: "POST" });
    await counted.call({ ...request, method: "GET" });
  }
};
const gauge = createScheduleHandler(every(measure), world);
const failing = createScheduleHandler(
  every(async () => {
    countSession();
    await gone();
  }),
  world,
);

const INVOCATIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  first: () => lambda(getAccount, world)(accountEvent, createContext()),
  second: () => lambda(getAccount, world)(accountEvent, createContext()),
  "wrong key": () =>
    lambda(getAccount, world)(
      toEvent({ method: "GET", url: "/v1/account", headers: [["x-api-key", "mp_live_no"]] }),
      createContext(),
    ),
  "no key, and no JSON": () =>
    lambda(verifyEmail, world)(verifyEvent([jsonHeader], "{"), createContext()),
  "no JSON": () =>
    lambda(verifyEmail, world)(verifyEvent([keyHeader, jsonHeader], "{"), createContext()),
  charged: () =>
    lambda(verifyEmail, {
      ...world,
      table: countCredits(world.table),
      engine: { ...world.engine, onVerification: countVerification },
    })(
      verifyEvent([keyHeader, jsonHeader], JSON.stringify({ email: "ann@example.com" })),
      createContext(),
    ),
  "mail servers": () => createScheduleHandler(every(connectAndWait), world)({}, createContext()),
  webhooks: () => createScheduleHandler(every(callWebhooks), world)({}, createContext()),
  "broken table": () => lambda(getAccount, broken)(accountEvent, createContext()),
  "late answer": () => lambda(getAccount, hanging)(accountEvent, createContext(550)),
  "tools, late": () =>
    createMcpLambda(hanging)(
      toEvent({ method: "POST", url: "/mcp", headers: [keyHeader, jsonHeader], body: "{}" }),
      createContext(550),
    ),
  "no document": () =>
    createFallbackHandler(world, null)(toEvent({ method: "GET", url: "/no" }), createContext()),
  "a document": () =>
    createFallbackHandler(world, null)(
      toEvent({ method: "GET", url: "/openapi.json" }),
      createContext(),
    ),
  "a route that has its own Lambda": () =>
    createFallbackHandler(world, null)(accountEvent, createContext()),
  queue: () => createQueueHandler(picky, world, async () => {})(batch, createContext()),
  "queue, stuck": () => createQueueHandler(picky, world, gone)(batch, createContext()),
  schedule: () => gauge({}, createContext()),
  "schedule that fails": () => failing({}, createContext()),
  "prober that fails": () =>
    createProberHandler(gone, world.log)(
      { recipient: "full@x.com", domain: "x.com", hosts: [], probeCatchAll: true },
      createContext(),
    ),
};

for (const [name, invoke] of Object.entries(INVOCATIONS)) {
  console.log(`INVOCATION ${name}`);
  const result = await invoke().catch((error: unknown) => ({
    thrown: inspect(error, { showHidden: true }),
  }));
  console.log(`RESULT ${JSON.stringify(result ?? null)}`);
}

import { inspect } from "node:util";
import { endpoints } from "@mailproof/api/endpoints";
import { getAccount } from "@mailproof/api/endpoints/get-account";
import { verifyEmail } from "@mailproof/api/endpoints/verify-email";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Worker } from "@mailproof/core/runtime/worker";
import { createProberHandler } from "@mailproof/functions/capabilities/prober";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { lambda } from "@mailproof/functions/lambda";
import { createLambdaLog } from "@mailproof/functions/log";
import { createMcpLambda } from "@mailproof/functions/mcp";
import { putMetric } from "@mailproof/functions/metrics";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { createScheduleHandler } from "@mailproof/functions/schedule-handler";
import { createContext, createSqsEvent } from "../aws/events.ts";
import { toEvent } from "../gateway.ts";
import { given } from "../given.ts";

// A process of Lambda: one invocation of each kind after the other. chain.test.ts runs it and reads what it writes, as
// CloudWatch would.

process.stderr.write = process.stdout.write.bind(process.stdout);

const { world: here, liveKey } = await given();
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
const measure = async () => {
  putMetric("due_age_seconds", 7);
  putMetric("smtp_sessions", 1);
  putMetric("smtp_sessions", 1);
};
const gauge = createScheduleHandler(every(measure), world);
const failing = createScheduleHandler(
  every(async () => {
    putMetric("smtp_sessions", 1);
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
  "broken table": () => lambda(getAccount, broken)(accountEvent, createContext()),
  "late answer": () => lambda(getAccount, hanging)(accountEvent, createContext(550)),
  "tools, late": () =>
    createMcpLambda(hanging)(
      toEvent({ method: "POST", url: "/mcp", headers: [keyHeader, jsonHeader], body: "{}" }),
      createContext(550),
    ),
  "no document": () =>
    createFallbackHandler(world, null)(toEvent({ method: "GET", url: "/no" }), createContext()),
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

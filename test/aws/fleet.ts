import { createRouter } from "@mailproof/api/http/router";
import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import type { Worker } from "@mailproof/core/runtime/worker";
import { createJudge } from "../api/judge.ts";
import { givenWorld } from "../app/given.ts";
import { type Release, runRelease } from "../app/release.ts";
import { BASE_URL, createSend, type Send, type TestResponse } from "../app/send.ts";
import { findReconciler, findWorker } from "../simulation/background.ts";
import { createRandom } from "../simulation/random.ts";
import { createPortsOn, type EmulatedPorts, openResources } from "./emulated-ports.ts";
import { createContext, createSqsEvent } from "./events.ts";

// A stage in the middle of a deployment: one table, its queues and its bucket, and Lambdas of several releases, each with its own
// adapters. Which of them gets a request, a message, a call of the prober or a run of the reconciler is drawn.

const OPENING = 10_000;
export const PART_ROWS = 2_000;
/** As small as lets a short list have several chunks. */
const SIZES = {
  chunkRows: { batch: 2, file: 2 },
  exportRows: { inRequest: 2 * PART_ROWS, part: PART_ROWS },
};

type Crew = {
  readonly release: Release;
  /** Of a worker or a schedule, and of an endpoint, for which the prober asks mail servers. */
  readonly world: AppWorld;
  readonly callerWorld: AppWorld;
  readonly send: Send;
  /** What is wrong with a response by the release's own document. */
  readonly judge: (what: string, response: TestResponse) => readonly string[];
};

export type Fleet = Awaited<ReturnType<typeof givenFleet>>;

/** `releases`: the newest is the last, and things are looked at by its code. */
export const givenFleet = async (seed: number, releases: readonly Release[]) => {
  const base = givenWorld(seed);
  const { now } = base.world;
  const chance = createRandom(seed);
  const drawOne = <T>(all: readonly T[]): T => all[Math.floor(chance() * all.length)] as T;
  const draw = (): Crew => drawOne(crews);

  const askProber = async (question: Json): Promise<Json> => {
    const { release, world } = draw();
    const prober = release.createProberHandler(world.engine.probe, world.log);
    return toWire(await prober(toWire(question) as never, createContext()));
  };
  const resources = openResources(now);
  const ports = releases.map((release) => createPortsOn(resources, now, release));
  const crews = releases.map((release, at): Crew => {
    const settings = { ...base.world.settings, ...SIZES };
    const world = runRelease(release, { ...base.world, ...ports[at], settings });
    const probe = release.createRemoteProbe(askProber);
    return {
      release,
      world,
      callerWorld: { ...world, engine: { ...world.engine, probe } },
      send: createSend(release),
      judge: createReleaseJudge(release),
    };
  });
  const newest = crews.at(-1) as Crew;
  const { table, queue, blobs } = ports.at(-1) as EmulatedPorts;
  const opening = { name: "Ann's Shop", plan: "scale", opening: credits(OPENING) } as const;
  const { account, liveKey } = await openAccount(newest.world, opening);
  const wrong: string[] = [];
  const served = new Set<string>();

  const ask: Ask = async (what, { key = liveKey, ...sent } = {}) => {
    const { release, callerWorld, send, judge } = draw();
    const response = await send(callerWorld, what, { key, ...sent });
    served.add(release.name);
    for (const fault of judge(what, response)) wrong.push(`${release.name}: ${what}: ${fault}`);
    return response;
  };

  /** SQS promises only "at least once": some messages come twice, the second time perhaps to the other release. */
  const handle = async (worker: Pick<Worker<AppWorld>, "queue">, message: ReceivedMessage) => {
    const event = createSqsEvent(worker.queue.name, [message]);
    const callLambda = () => {
      const { release, world } = draw();
      const own = findWorker(release, worker);
      return release.createQueueHandler(own, world, async () => {})(event, createContext());
    };
    const { batchItemFailures } = await callLambda();
    if (chance() < 0.3) await callLambda();
    if (batchItemFailures.length === 0) await queue.acknowledge(message.receipt);
  };

  /** Handles what waits now, and what comes of it in queues that are looked at later. */
  const work = async (): Promise<void> => {
    for (const worker of newest.release.workers)
      for (const message of await queue.receive(worker.queue, { waitMs: 0 }))
        await handle(worker, message);
  };

  const reconcile = async (): Promise<void> => {
    const { release, world } = draw();
    await release.createScheduleHandler(findReconciler(release), world)({}, createContext());
  };

  return {
    ...base,
    world: newest.world,
    table,
    queue,
    blobs,
    account,
    liveKey,
    opening: OPENING,
    chance,
    drawOne,
    ask,
    work,
    reconcile,
    /** What a response had that the document of its release does not promise. */
    wrong,
    /** The releases that answered. */
    served,
    audit: () => Promise.all(crews.map(({ release, world }) => release.audit(world.table, now()))),
  };
};

export type Ask = (what: string, sent?: Parameters<Send>[2]) => Promise<TestResponse>;

const toWire = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

const createReleaseJudge = ({ endpoints, openapi }: Release): Crew["judge"] => {
  const judge = createJudge(openapi(BASE_URL));
  const route = createRouter(endpoints);
  return (what, { statusCode: status, headers, text }) => {
    const [method = "", path = ""] = what.split(" ");
    const [, template = ""] = route(method, path).endpoint.route.split(" ");
    return judge(method, template, { status, headers, text });
  };
};

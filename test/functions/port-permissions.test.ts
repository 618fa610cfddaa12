import { globSync, readFileSync } from "node:fs";
import type { AppWorld } from "@mailproof/core/app-world";
import { workers } from "@mailproof/core/background/workers";
import type { Key } from "@mailproof/core/ports/table";
import { createVersionRemover } from "@mailproof/functions/aws/s3-versions";
import { createReleaseMessage } from "@mailproof/functions/aws/sqs-release";
import { withBlobs } from "@mailproof/functions/capabilities/blobs";
import { withProber } from "@mailproof/functions/capabilities/prober";
import { withQueue } from "@mailproof/functions/capabilities/queue";
import { type BaseContext, createBaseContext } from "@mailproof/functions/lambda-world";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { describe, expect, test } from "vitest";
import { GRANTS, listGrants, type Need } from "../../infra/iam.ts";
import { isInNetwork, type Lambda, lambdas, prober } from "../../infra/topology.ts";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { createRole } from "../app/rights.ts";
import { DYNAMODB } from "../aws/emulators.ts";
import { createContext, createSqsEvent } from "../aws/events.ts";
import { describeWith } from "../runner/describe-when.ts";
import { createStage } from "../third-party/stage.ts";

// What a Lambda's role allows against what the adapters really ask AWS for: whatever a port can do is done here, through
// a proxy that notes each request as IAM would see it.

type Ports = BaseContext & Pick<AppWorld, "blobs" | "queue">;
type Use = (ports: Ports) => Promise<unknown>;

const key = { pk: "P", sk: "1" };

const read: Use = async ({ table }) => {
  await table.get(key);
  await table.query({ pk: "P", limit: 1 });
  await table.query({ index: "list", pk: "P", limit: 1 });
  await table.query({ index: "due", pk: "P", limit: 1 });
};

const writeAt = async ({ table }: Ports, key: Key): Promise<void> => {
  const writes = [
    { create: key },
    { put: key },
    { update: key, add: { n: 1 } },
    { check: key, where: {} },
    { remove: key },
    { checkAbsent: key },
  ];
  for (const one of writes) {
    await table.write(one);
    await table.transact([one]);
  }
};

const KEY = "inputs/job_1";
const LARGE = Buffer.alloc(9_000_000, "x");

async function* breakOff(): AsyncGenerator<Uint8Array> {
  yield LARGE;
  yield LARGE;
  throw new Error("the upload broke off");
}

const write: Use = (ports) => writeAt(ports, key);

/** Every use of AWS that a need stands for. */
const USES: Readonly<Record<Need, Use>> = {
  "table:read": read,
  "table:readwrite": async (ports) => {
    await read(ports);
    await write(ports);
  },
  "table:rows": async (ports) => {
    const key = { pk: "JOB#job_1", sk: "1" };
    await ports.table.get(key);
    await ports.table.query({ pk: key.pk, limit: 1 });
    await writeAt(ports, key);
  },
  "table:passkeys": async (ports) => {
    const key = { pk: "SESSION#1", sk: "SESSION" };
    await ports.table.get(key);
    await ports.table.query({ pk: key.pk, limit: 1 });
    await writeAt(ports, key);
  },
  "table:mail-hosts": async (ports) => {
    const key = { pk: "PROVIDER#google", sk: "1" };
    await ports.table.get(key);
    await ports.table.query({ pk: key.pk, limit: 1 });
    await ports.table.query({ index: "list", pk: "CIRCUITS", limit: 1 });
    await writeAt(ports, key);
  },
  "queue:send": ({ queue }) => queue.sendMany("events", [{ body: {} }]),
  "queue:depth": ({ queue }) => queue.countDeadLetters(),
  "queue:receive": async ({ aws }) => {
    const [worker] = workers;
    const event = createSqsEvent("events", [{ receipt: "none", body: {}, receiveCount: 1 }]);
    const failing = { ...worker, handle: () => Promise.reject(new Error("it failed")) };
    await createQueueHandler(
      failing as never,
      givenWorld().world,
      createReleaseMessage(aws),
    )(event, createContext());
  },
  "blobs:read": async ({ blobs }) => {
    await blobs.head(KEY);
    await blobs.get(KEY);
    const link = { expiresInSeconds: 60, fileName: "list.csv", contentType: "text/csv" };
    await fetch((await blobs.presignGet(KEY, link)).url);
  },
  "blobs:write": async ({ blobs }) => {
    await blobs.put(KEY, streamPieces("small"));
    await blobs.put(KEY, streamPieces(LARGE, LARGE));
    await blobs.put(KEY, breakOff()).catch(() => undefined);
    await blobs.remove(KEY);
    const { url } = await blobs.presignPut("uploads/1", { expiresInSeconds: 60, bytesMax: 100 });
    await fetch(url, { method: "PUT", body: "a@b.c" });
  },
  relay: async () => undefined,
  "uploads:remove": async ({ aws, environment }) => {
    const bucket = environment["BUCKET_NAME"] ?? "";
    await createVersionRemover(aws, bucket)("uploads/live/acc_1/upl_1.csv", "v1");
  },
  mail: async (ports) => {
    const question = { recipient: "a@b.c", domain: "b.c", hosts: [], probeCatchAll: false };
    await withProber(ports).engine?.probe(question);
  },
  smtp: async () => {},
  lists: async () => {},
  "keys:check": async () => {},
  cursor: async () => {},
  activity: async () => {},
  seal: async () => {},
  oidc: async () => {},
  dashboard: async () => {},
  dns: async () => {},
  https: async () => {},
  passkeys: async () => {},
};

/** What Lambda itself asks of a queue for its worker, in AWS's own words (AWSLambdaSQSQueueExecutionRole). */
const POLLING = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"].map(
  (action) => `${action} own queue`,
);

describeWith(DYNAMODB, "permissions for a port", () => {
  test.each(Object.entries(USES) as [Need, Use][])(
    "permissions of %s allow all of its adapter's AWS calls, and no others",
    async (need, use) => {
      const stage = await createStage();
      const proxy = await stage.openProxy(() => true);
      const [anyLambda] = lambdas;
      const environment = {
        ...stage.buildEnvironment(anyLambda as never, proxy.url),
        ...stage.settings,
      };
      const base = createBaseContext(environment);
      await use({ ...base, ...(withQueue(base) as Ports), ...(withBlobs(base) as Ports) });
      proxy.close();

      const asked = proxy.calls.flatMap(({ action, parts }) =>
        parts.map((part) => `${action} ${need === "queue:receive" ? "own queue" : part}`),
      );
      const granted = GRANTS[need].flatMap(({ actions, on }) =>
        actions.flatMap((action) => on.map((part) => `${action} ${part}`)),
      );
      const polled = need === "queue:receive" ? POLLING : [];
      expect(new Set(granted)).toEqual(new Set([...asked, ...polled]));
    },
  );
});

/** Each beginning of a partition key that the code of sessions has. */
const listPartitions = (): readonly string[] =>
  globSync("packages/core/src/{smtp-pool/**/*,verify/canaries,runtime/dns-health}.ts").flatMap(
    (file) =>
      [...readFileSync(file, "utf8").matchAll(/(?:\bpk: [`"]|PARTITION = ")([A-Z]+#?)/g)].map(
        ([, partition = ""]) => partition,
      ),
  );

/** They parse the replies of mail servers that strangers run. */
const inNetwork = lambdas.filter(isInNetwork);

describe("permissions of Lambdas that open SMTP sessions", () => {
  const may = (lambda: Lambda, operation: string, partition: string): boolean =>
    createRole(
      lambda,
      null,
    )({ action: `dynamodb:${operation}`, parts: ["table"], queue: null, partition });
  const listReached = (lambda: Lambda, partitions: readonly string[]): readonly string[] =>
    partitions.filter((partition) =>
      ["GetItem", "Query", "UpdateItem", "PutItem"].some((one) => may(lambda, one, partition)),
    );

  test("exactly three Lambdas open SMTP sessions", () => {
    expect(inNetwork.map(({ name }) => name)).toEqual(["Prober", "WorkerChunks", "WorkerSingles"]);
  });

  test.each(inNetwork)("each of $name's grants on the table lists its partitions", ({ needs }) => {
    const grants = listGrants(needs).filter(({ actions }) => actions[0]?.startsWith("dynamodb:"));

    expect(grants).not.toEqual([]);
    expect(grants.filter(({ partitions }) => !partitions?.every((one) => one !== "*"))).toEqual([]);
  });

  test.each(inNetwork)("$name may write every item that SMTP sessions write", (lambda) => {
    const partitions = listPartitions();

    expect(new Set(partitions)).toEqual(
      new Set(["ASKED#", "CANARIES", "DOMAIN#", "EXIT#", "HEALTH", "PROVIDER#"]),
    );
    const mayWrite = (partition: string) =>
      may(lambda, "UpdateItem", partition.endsWith("#") ? `${partition}x` : partition);
    expect(partitions.filter((one) => !mayWrite(one))).toEqual([]);
  });

  test.each(inNetwork)("$name reaches no key, webhook, activity, check or mail test", (lambda) => {
    const others = ["ACTIVITY#1", "CHECK#1", "ERASURE#1", "KEY#1", "KEYS#acc_1", "MAILTEST#1"];

    expect(listReached(lambda, [...others, "OPERATION#1", "WEBHOOKS#acc_1"])).toEqual([]);
  });

  test("the prober reaches no item of an account or a job", () => {
    expect(listReached(prober, ["ACCOUNT#acc_1", "JOB#job_1", "LEDGER#acc_1"])).toEqual([]);
  });

  test("the worker of lists may read an account's item but not change it", () => {
    for (const lambda of inNetwork.filter(({ needs }) => needs.includes("table:rows")))
      expect(["GetItem", "UpdateItem"].map((one) => may(lambda, one, "ACCOUNT#acc_1"))).toEqual([
        true,
        false,
      ]);
  });
});

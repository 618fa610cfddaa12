import { globSync } from "node:fs";
import { basename } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import { type Endpoint, toFileName } from "@mailproof/api/http/endpoint";
import { schedules, workers } from "@mailproof/core/background/workers";
import { expect, test } from "vitest";
import { prober, uploadLimit } from "../../infra/topology.ts";
import { toEntry, toWorkerEntry } from "../../packages/functions/entries.ts";

const listNames = (pattern: string) => globSync(pattern).map((path) => basename(path, ".ts"));
const files = listNames("packages/api/src/endpoints/*.ts");

test("the list of endpoints matches their files", () => {
  expect(endpoints.map(toFileName).toSorted()).toEqual(files.toSorted());
});

test.each(files)(
  "the file %s exports one endpoint, whose id gives the file its name",
  async (file) => {
    const module = (await import(`../../packages/api/src/endpoints/${file}.ts`)) as Record<
      string,
      Endpoint
    >;
    const exported = Object.entries(module).filter(([, one]) => typeof one === "object");

    expect(exported.map(([name, { id }]) => [name, id])).toEqual([
      [exported[0]?.[0], exported[0]?.[0]],
    ]);
    expect(endpoints).toContain(exported[0]?.[1]);
  },
);

test("no two endpoints or actions share an id or a name", () => {
  const ids = endpoints.flatMap(({ id, actions = {} }) => [
    id,
    ...Object.values(actions).map((action) => action.id),
  ]);

  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("an endpoint's actions equal the variants of its body, in the same order", () => {
  const getVariants = ({ body }: Endpoint): string[] => {
    const { options = [] } = (body ?? {}) as { options?: readonly any[] };
    return options.map(({ entries }) => entries.action.literal);
  };
  const acting = endpoints.filter((one) => one.actions || getVariants(one).length > 0);

  expect(acting.map(({ id }) => id)).toEqual(["verifyFile", "signInWithOidc"]);
  for (const endpoint of acting)
    expect(Object.keys(endpoint.actions ?? {})).toEqual(getVariants(endpoint));
});

test("a Lambda receives the capabilities that its endpoint needs, and no others", () => {
  expect(toEntry({ id: "getJob", needs: ["table:readwrite"] })).not.toContain("capabilities/");
  expect(toEntry({ id: "findEmail", needs: ["mail", "https"] })).toContain(
    "createLambdaWorld([withProber, withHttps])",
  );
});

test("the MCP tools and the fallback route each run in their own Lambda", () => {
  expect(listNames("packages/functions/src/http/*.ts").toSorted()).toEqual(["$default", "mcp"]);
});

test("the entry of a worker receives its capabilities, and the entry of dead letters the capabilities of giving up", () => {
  const entries = new Map(workers.map((one) => [one.queue.name, toWorkerEntry(one)]));

  expect(entries.get("chunks")).toContain(
    "createQueueHandler(verifyChunk, createLambdaWorld([withQueue, withBlobs, withMailServers]))",
  );
  expect(entries.get("chunks-dead")).toContain(
    "createLambdaWorld([withQueue, withBlobs, withLists])",
  );
  expect(entries.get("monitors-dead")).toContain(
    "createQueueHandler(toDeadLetterWorker(runMonitor), createLambdaWorld([]))",
  );
});

test("every schedule runs in its own Lambda, and so do the prober and the limit of uploads", () => {
  expect(listNames("packages/functions/src/workers/*.ts").toSorted()).toEqual(
    [prober, uploadLimit].map(({ handler }) => basename(handler, ".handler")).toSorted(),
  );
  // Two more measure what an operator's alarms go by.
  expect(listNames("packages/functions/src/schedules/*.ts").toSorted()).toEqual(
    [...schedules.map(({ name }) => name), "audit", "gauge"].toSorted(),
  );
});

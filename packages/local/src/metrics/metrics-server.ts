import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "@mailproof/core/ports/world";
import type { Registry } from "prom-client";
import type { LocalWorld } from "../app.ts";
import type { Environment } from "../environment.ts";
import { toLocalUrl } from "../server/site.ts";
import { createScrapeRecorder } from "../storage/last-scrape.ts";
import type { Counters } from "./counters.ts";
import { addGauges } from "./gauges.ts";
import { formatMetrics } from "./registry.ts";

const METRICS_PATH = "/metrics";

/** Metrics have their own port: they name providers and amounts, and need no key. */
export const startMetrics = async (
  { METRICS_HOST, METRICS_PORT, MAILPROOF_DIR }: Environment,
  world: LocalWorld,
  { registry }: Counters,
): Promise<{ readonly url: string; readonly stop: () => void }> => {
  const stopGauges = addGauges(registry, world, MAILPROOF_DIR);
  const server = createMetricsServer(registry, world.log, createScrapeRecorder(world));
  server.listen(METRICS_PORT, METRICS_HOST);
  await once(server, "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
    stopGauges();
  };
  return { url: toLocalUrl(server.address() as AddressInfo) + METRICS_PATH, stop };
};

const createMetricsServer = (
  registry: Registry,
  log: Log,
  recordScrape: () => Promise<void>,
): Server =>
  createServer((incoming, outgoing) => {
    if (incoming.url?.split("?")[0] !== METRICS_PATH || incoming.method !== "GET") {
      outgoing.writeHead(404, { "content-type": "text/plain" }).end(`Only GET ${METRICS_PATH}.\n`);
      return;
    }
    const report = (metric: string, cause: unknown) => log("metric_failed", { metric, cause });
    void recordScrape().catch((cause: unknown) => report("scrape", cause));
    void formatMetrics(registry, report).then((text) =>
      outgoing.writeHead(200, { "content-type": registry.contentType }).end(text),
    );
  });

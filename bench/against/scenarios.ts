import { setTimeout } from "node:timers/promises";
import { formatCompanyLabel, getCompany, getPeople } from "@mailproof/lab/companies";
import type { LabOptions } from "@mailproof/lab/lab";
import { callVerify } from "../autocannon.ts";
import { listOneServer, ZONE } from "../engine/lists.ts";
import { type Api, createKeys, uploadList } from "../http-api.ts";
import { generateList, type ListCounts, pickDomain, toBytes } from "../list-generator.ts";
import { type Network, withServer } from "../network.ts";
import { readUsage, type Server } from "../server.ts";
import type { FigureName, RowName } from "./ratios.ts";

// What is measured of a tree: its server, as a process, before the lab and the load generator of this tree, and over HTTP
// alone, so that the server of an old commit is measured as well. The work of each row is the same in every run.

export type Figures = Readonly<Record<FigureName, number>>;
type Measure = (row: RowName, work: () => Promise<void>) => Promise<void>;
type Scenario = {
  readonly lab: LabOptions;
  readonly run: (api: Api, server: Server, measure: Measure) => Promise<void>;
};

const POLL_MS = 100;

/** Processes an uploaded list to its last result, and returns its job. */
export const runList = async (api: Api, fileKey: string, addresses: number): Promise<string> => {
  const { job_id: job } = await api("POST /v1/verify/file", {
    action: "process",
    file_key: fileKey,
  });
  for (;;) {
    const { status, progress } = await api(`GET /v1/jobs/${job}?include_results=false`);
    if (status === "failed") throw new Error("the job failed");
    if (status !== "completed") {
      await setTimeout(POLL_MS);
      continue;
    }
    if (progress.processed !== addresses)
      throw new Error(`of ${addresses} addresses ${progress.processed} were processed`);
    return job;
  }
};

const DOMAINS = 200;
export const COMPANIES = 3_000;

/** The first companies that run a mail host of their own. */
export const listDomains = (): readonly string[] =>
  Array.from({ length: COMPANIES }, (_, at) => formatCompanyLabel(at + 1))
    .filter((label, at) => {
      const { mailHosts, catchAll } = getCompany(at + 1);
      return !catchAll && mailHosts.length === 1 && mailHosts[0] === `mx.${label}.companies`;
    })
    .slice(0, DOMAINS)
    .map((label) => `${label}.companies.${ZONE}`);

const createCustomers = () => {
  const domains = listDomains();
  return (number: number, chance: () => number): string => {
    const domain = domains[Math.floor(chance() * domains.length)] ?? "";
    const staff = getPeople(domain);
    const mailbox = staff[Math.floor(chance() * staff.length)]?.local ?? "info";
    return `${chance() < 0.1 ? `nobody${number}` : `${mailbox}+${number}`}@${domain}`;
  };
};

const LIST = { seed: 1, duplicatePercent: 6, invalidPercent: 3, columns: 5 };

const uploadGenerated = async (api: Api, shape: Parameters<typeof generateList>[0]) => {
  let counts: ListCounts | undefined;
  const list = toBytes(generateList(shape), (counted) => {
    counts = counted;
  });
  const fileKey = await uploadList(api, list);
  return { fileKey, unique: counts?.unique ?? Number.NaN };
};

const EXPORTS = 20;

/** A file of customers at 200 domains with a mail host each; then its results as CSV, several times. */
const list: Scenario = {
  lab: { companies: COMPANIES, replyMs: 20 },
  async run(api, { ready }, measure) {
    const shape = { ...LIST, rows: 20_000, domain: () => ZONE, person: createCustomers() };
    const { fileKey, unique } = await uploadGenerated(api, shape);
    let job = "";
    await measure("list", async () => {
      job = await runList(api, fileKey, unique);
    });
    await measure("export", async () => {
      for (let run = 0; run < EXPORTS; run++) {
        const url = `${ready.base_url}/v1/jobs/${job}/download`;
        const response = await fetch(url, { headers: { "x-api-key": ready.live_key } });
        const text = await response.text();
        const lines = text.trimEnd().split("\n").length - 1;
        if (lines < unique) throw new Error(`the export has ${lines} rows of ${unique}`);
      }
    });
  },
};

const ONE_SERVER_ROWS = 2_000;

/** People of one domain, whose mail host takes one command at a time. */
const oneServer: Scenario = {
  lab: { companies: 0, replyMs: 20 },
  async run(api, _server, measure) {
    const people = listOneServer(ONE_SERVER_ROWS);
    const fileKey = await uploadList(api, ["email", ...people].join("\n"));
    await measure("one-server", async () => {
      await runList(api, fileKey, ONE_SERVER_ROWS);
    });
  },
};

const EMAIL = `ada.lovelace@valid.${ZONE}`;
const WARM_UP = 450;
const REQUESTS = 8_000;

/** `POST /v1/verify` of an address in the result cache. */
const cached: Scenario = {
  lab: { companies: 0 },
  async run(api, { ready }, measure) {
    const keys = await createKeys(api);
    const send = async (amount: number): Promise<void> => {
      const loaded = await callVerify(ready.base_url, EMAIL, keys, { amount });
      if (loaded["2xx"] !== amount)
        throw new Error(`of ${amount} requests ${loaded["2xx"]} were answered with 200`);
    };
    await send(WARM_UP);
    await measure("cached", () => send(REQUESTS));
  },
};

/** A large file until `process` returns 202: read, column found, normalised, duplicates removed, cut into chunks. */
const intake: Scenario = {
  lab: { companies: 0 },
  async run(api, _server, measure) {
    const shape = { ...LIST, rows: 400_000, domain: pickDomain };
    const { fileKey, unique } = await uploadGenerated(api, shape);
    await measure("intake", async () => {
      const accepted = await api("POST /v1/verify/file", { action: "process", file_key: fileKey });
      if (accepted.unique_emails !== unique)
        throw new Error(`of ${unique} addresses ${accepted.unique_emails} were taken in`);
    });
  },
};

const BETWEEN_TRIES_MS = 1_000;

/** A server on a busy machine refuses for some seconds, and says that it may be asked again. */
const createPatientApi =
  (api: Api): Api =>
  async (route, body) => {
    for (let tries = TRIES_MAX; ; tries--)
      try {
        return await api(route, body);
      } catch (error) {
        if (tries <= 1 || !String(error).includes('"retryable":true')) throw error;
        await setTimeout(BETWEEN_TRIES_MS);
      }
  };

const TRIES_MAX = 30;

const SCENARIOS = { list, "one-server": oneServer, cached, intake } as const;

export type ScenarioName = keyof typeof SCENARIOS;

export const scenarioNames = Object.keys(SCENARIOS) as readonly ScenarioName[];

type RowFigures = Readonly<Partial<Record<RowName, Figures>>>;

/** One scenario with a server of a tree. What other work on the machine can make fail once does not fail three times. */
export const runScenario = async (name: ScenarioName, tree: string): Promise<RowFigures> => {
  for (let tries = RUNS_MAX; ; tries--)
    try {
      return await runOnce(name, tree);
    } catch (error) {
      if (tries <= 1) throw error;
    }
};

const RUNS_MAX = 3;

const runOnce = (name: ScenarioName, tree: string): Promise<RowFigures> => {
  const { lab, run }: Scenario = SCENARIOS[name];
  return withServer({ lab, tree }, async ({ api, server, network }) => {
    const rows: Partial<Record<RowName, Figures>> = {};
    await run(createPatientApi(api), server, async (row, work) => {
      rows[row] = await measure(server, network, work);
    });
    return rows;
  });
};

const measure = async (
  { pid }: Server,
  network: Network,
  work: () => Promise<void>,
): Promise<Figures> => {
  const [before, statsBefore] = [readUsage(pid), await network.stats()];
  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1_000;
  const [after, stats] = [readUsage(pid), await network.stats()];
  return {
    seconds,
    processorSeconds: after.processorSeconds - before.processorSeconds,
    peakMegabytes: after.peakMegabytes,
    sessions: stats.sessions - statsBefore.sessions,
    queries: stats.dnsQueries - statsBefore.dnsQueries,
    bytesWritten: after.bytesWritten - before.bytesWritten,
  };
};

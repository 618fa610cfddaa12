import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer, json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { workers } from "@mailproof/core/background/workers";
import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import { allDomains } from "@mailproof/lab/domains";
import { buildIssuerZone, readIssuerDocument, toIssuer } from "@mailproof/lab/issuer";
import { LAB_ZONE, startLab } from "@mailproof/lab/lab";
import { buildNetwork } from "@mailproof/lab/network";
import { buildSendersReverseZone, buildSendersZone, SENDERS_REVERSE } from "@mailproof/lab/senders";
import type { Zones } from "@mailproof/lab/zone";
import { createSelfSigned } from "@mailproof/local/mail-receiver/mail-receiver";
import type { APIGatewayProxyStructuredResultV2, SQSBatchResponse } from "aws-lambda";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import {
  type Lambda,
  lambdas,
  prober,
  routes,
  scheduleSpecs,
  type WorkerSpec,
  workerSpecs,
} from "../../infra/topology.ts";
import { createRole } from "../app/rights.ts";
import { createSqsEvent } from "../aws/events.ts";
import { createStage, type Stage } from "../third-party/stage.ts";
import { openHooks } from "./hooks.ts";
import type { Artefact, Mail } from "./journey.ts";
import type { Outcome, ThreadData } from "./lambda-thread.ts";

// Every Lambda from the bundle that would be uploaded, behind what AWS puts before it: API Gateway, the pollers of SQS,
// and the schedules. Table, queues and bucket are emulators; the mail servers, name servers and issuer are the lab's.

const HOST = "localhost";
/** Of every server at this host: among two trusted certificates of one name, a client may choose the wrong one. */
export const CERTIFICATE = createSelfSigned(HOST, new Date());
/** SQS promises only "at least once". */
const TWICE_EVERY = 5;
const POLL_MS = 200;
/** Of a schedule. A minute on AWS. */
const SCHEDULE_MS = 5_000;
const COMPANIES = 10;
const MAIL_DOMAIN = "in.journey.example";

export type BundledStage = {
  readonly artefact: Artefact;
  readonly testKey: string;
  /** The key of an account without credits. */
  readonly poorKey: string;
  /** Calls of AWS that a Lambda's role does not allow, and invocations that threw: none is right. */
  readonly listFaults: () => readonly string[];
  readonly stop: () => Promise<void>;
};

/** `folder`: bundles made before. */
export const startBundledStage = async (folder?: string): Promise<BundledStage> => {
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    return { ...(await open(folder ?? (await makeBundles(closers)), closers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const makeBundles = async (closers: (() => unknown)[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-lambdas-"));
  closers.push(() => rmSync(folder, { recursive: true }));
  await promisify(execFile)(process.execPath, ["infra/bundle-lambdas.ts", folder], {
    env: { ...process.env, OAUTH_ISSUER: "the lab's" },
  });
  return folder;
};

const open = async (folder: string, closers: (() => unknown)[]) => {
  const faults: string[] = [];
  const internet = await openInternet(closers);
  const stage = await createStage({
    DNS_SERVERS: internet.dns,
    SMTP_PROXIES: "",
    MAIL_DOMAIN,
    DASHBOARD: "api",
    BLOCKLISTS: `bl.${LAB_ZONE}`,
  });
  const pools = new Map<Lambda, Pool>();
  const invoke = async (lambda: Lambda, event: unknown): Promise<any> => {
    const pool =
      pools.get(lambda) ?? openPool(lambda, folder, internet, environments.get(lambda) ?? {});
    pools.set(lambda, pool);
    const outcome = await pool.invoke(event);
    if ("result" in outcome) return outcome.result;
    faults.push(`${lambda.name}: ${outcome.error}`);
    throw new Error(`${lambda.name}: ${outcome.error}`);
  };
  const proberUrl = await openInvocations((event) => invoke(prober, event), closers);
  const environments = new Map<Lambda, NodeJS.ProcessEnv>();
  const proxies = await Promise.all(
    lambdas.map(async (lambda) => {
      const queue = workerSpecs.find((one) => one.lambda === lambda)?.queue ?? null;
      const proxy = await stage.openProxy(createRole(lambda, queue));
      closers.push(proxy.close);
      const environment = stage.buildEnvironment(lambda, proxy.url);
      environments.set(lambda, { ...environment, AWS_ENDPOINT_URL_LAMBDA: proberUrl });
      return { lambda, proxy };
    }),
  );
  const baseUrl = await openGateway(invoke, closers);
  // A deployment is handed over when its own health check passes.
  while ((await fetch(`${baseUrl}/health`)).status !== 200) await setTimeout(POLL_MS);
  closers.push(() => Promise.all([...pools.values()].map((pool) => pool.stop())));
  closers.push(startPollers(stage, invoke), startSchedules(invoke));
  const listFaults = () => [
    ...faults,
    ...proxies.flatMap(({ lambda, proxy }) =>
      proxy.refused.map((call) => `${lambda.name} may not ${JSON.stringify(call)}`),
    ),
  ];
  const artefact: Artefact = {
    baseUrl,
    key: stage.liveKey,
    sendingIp: SENDING_IP,
    capabilities: {
      control: true,
      deliverMail: (mail) => storeMail(stage, mail),
      hooks: internet.hooks,
      pages: true,
      admin: (...words) => runAudit(words, invoke, pools),
      backupFolder: null,
    },
  };
  return { artefact, testKey: stage.testKey, poorKey: stage.poorKey, listFaults };
};

type Internet = Awaited<ReturnType<typeof openInternet>>;

/** The zones with addresses that no client refuses as private, in records and in reverse names. */
const toPublic = (zones: Zones): Zones =>
  JSON.parse(
    JSON.stringify(zones)
      .replaceAll(/"127\.(77\.\d+\.\d+"|0\.0\.1")/g, '"11.$1')
      .replaceAll("192.0.2.", "11.0.2.")
      .replaceAll("2.0.192.in-addr.arpa", "2.0.11.in-addr.arpa"),
  ) as Zones;
const SENDING_IP = "11.0.2.10";

const openInternet = async (closers: (() => unknown)[]) => {
  const zone = {
    ...buildNetwork({
      zoneName: LAB_ZONE,
      domains: allDomains,
      companies: COMPANIES,
      ownAddresses: true,
    }).zone,
    ...buildSendersZone(LAB_ZONE),
    ...buildIssuerZone(LAB_ZONE),
  };
  const zones = toPublic({
    // No name of another zone exists: a resolver that refuses them would count as a fault of the service.
    "": {},
    [LAB_ZONE]: zone,
    [SENDERS_REVERSE]: buildSendersReverseZone(LAB_ZONE),
  });
  const lab = await startLab({ companies: COMPANIES, zones });
  closers.push(lab.close);
  const hooks = await openHooks();
  closers.push(hooks.close);
  const { key, cert } = createSelfSigned(toIssuer(LAB_ZONE), new Date());
  const answerAsIssuer = async (url: string, answer: ServerResponse): Promise<void> => {
    const document = await readIssuerDocument(LAB_ZONE, `https://${toIssuer(LAB_ZONE)}${url}`);
    if (document?.kind !== "answer") return void answer.destroy();
    answer.writeHead(document.status, { "content-type": document.contentType });
    answer.end(document.body);
  };
  const issuer = createServer({ key, cert }, ({ url = "" }, answer) => {
    void answerAsIssuer(url, answer);
  });
  const issuerPort = await listen(issuer, closers);
  const { hostname, pathname, port } = new URL(hooks.url);
  return {
    dns: lab.dns,
    // A Lambda calls port 443 only.
    hooks: { url: `https://${hostname}${pathname}`, received: hooks.received },
    network: { smtpPort: lab.smtpPort, issuerPort, httpsPort: Number(port) },
    trusted: [cert, hooks.certificate],
  };
};

const listen = async (server: Server, closers: (() => unknown)[]): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    (server as ReturnType<typeof createServer>).closeAllConnections();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
};

/** `mailproof admin audit`, as the daily schedule runs it: its log has the outcome. */
const runAudit = async (
  words: readonly string[],
  invoke: Invoke,
  pools: ReadonlyMap<Lambda, Pool>,
): Promise<object> => {
  const audit = scheduleSpecs.find(({ lambda }) => lambda.name === "ScheduleAudit")?.lambda;
  if (!audit || words.join() !== "audit")
    throw new Error(`no Lambda runs admin ${words.join(" ")}`);
  const before = pools.get(audit)?.lines.length ?? 0;
  await invoke(audit, {});
  for (;;) {
    const lines =
      pools
        .get(audit)
        ?.lines.slice(before)
        .map((line) => JSON.parse(line)) ?? [];
    const violations = lines.filter(({ message }) => message === "invariant_broken");
    const audited = lines.find(({ message }) => message === "audited");
    if (audited) return { ok: audited.violations === 0, violations };
    await setTimeout(POLL_MS);
  }
};

type Pool = {
  readonly invoke: (event: unknown) => Promise<Outcome>;
  /** What its instances logged. */
  readonly lines: readonly string[];
  readonly stop: () => Promise<unknown>;
};

/** As Lambda does it: an instance has one event at a time, and another one starts when all of them are busy. */
const openPool = (
  { handler, name, timeoutSeconds }: Lambda,
  folder: string,
  { network, trusted }: Internet,
  env: NodeJS.ProcessEnv,
): Pool => {
  const idle: Worker[] = [];
  const all: Worker[] = [];
  const lines: string[] = [];
  const start = (): Worker => {
    const file = join(folder, name, handler.replace(/\.handler$/, ".mjs"));
    const data: ThreadData = { file, timeoutMs: timeoutSeconds * 1_000, network, trusted };
    const script = new URL("./lambda-thread.ts", import.meta.url);
    const thread = new Worker(script, {
      workerData: data,
      env,
      stdout: true,
      stderr: true,
      execArgv: [],
    });
    thread.stderr.resume();
    createInterface(thread.stdout).on("line", (line) => void lines.push(line));
    all.push(thread);
    return thread;
  };
  return {
    lines,
    invoke: async (event) => {
      const thread = idle.pop() ?? start();
      thread.postMessage(event);
      const ended = new AbortController();
      const [outcome] = (await Promise.race([
        once(thread, "message", { signal: ended.signal }),
        once(thread, "exit", { signal: ended.signal }).then(([code]) => [
          { error: `the thread ended with ${code}` },
        ]),
      ]).finally(() => ended.abort())) as [Outcome];
      idle.push(thread);
      return outcome;
    },
    stop: () => Promise.all(all.map((thread) => thread.terminate())),
  };
};

type Invoke = (lambda: Lambda, event: unknown) => Promise<any>;

/** The route that AWS's API for invocations has; a Lambda invokes the prober alone. */
const openInvocations = async (
  invoke: (event: unknown) => Promise<unknown>,
  closers: (() => unknown)[],
): Promise<string> => {
  const handle = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const result = await invoke(await json(request)).catch((error: unknown) => {
      answer.setHeader("x-amz-function-error", "Unhandled");
      return { errorMessage: String(error) };
    });
    answer.end(JSON.stringify(result));
  };
  const server = createHttpServer((request, answer) => void handle(request, answer));
  return `http://127.0.0.1:${await listen(server, closers)}`;
};

/** API Gateway: TLS, a request as an event, and the route's Lambda. */
const openGateway = async (invoke: Invoke, closers: (() => unknown)[]): Promise<string> => {
  const { key, cert } = CERTIFICATE;
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert]);
  closers.push(() => setDefaultCACertificates(before));
  let requests = 0;
  const handle = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", rawHeaders, headers } = request;
    const body = await buffer(request);
    const event = toEvent({
      method,
      url,
      headers: rawHeaders.flatMap((name, at) =>
        at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : [],
      ),
      ...(body.length > 0 && { body: isText(headers["content-type"]) ? body.toString() : body }),
    });
    Object.assign(event.requestContext, { domainName: headers.host, requestId: `r${++requests}=` });
    const { rawPath, routeKey } = event;
    const found = routes.find(({ route }) => route === routeKey || route === `ANY ${rawPath}`);
    const { lambda } = found as (typeof routes)[number];
    const result = (await invoke(lambda, event)) as APIGatewayProxyStructuredResultV2;
    answer.writeHead(result.statusCode ?? 200, result.headers as Record<string, string>);
    answer.end(toBytes(result));
  };
  const server = createServer({ key, cert }, (request, answer) => {
    handle(request, answer).catch(() => answer.writeHead(500).end());
  });
  return `https://${HOST}:${await listen(server, closers)}`;
};

const isText = (type = ""): boolean => /^(?:text\/|application\/json\b)/.test(type);

/** Starts a loop that ends, after its current run, when the result is called. */
const repeat = (run: () => Promise<unknown>, everyMs: number): (() => Promise<void>) => {
  const stopped = new AbortController();
  const ended = (async () => {
    while (!stopped.signal.aborted) {
      await run();
      await setTimeout(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    stopped.abort();
    await ended;
  };
};

/** Lambda's own pollers of the queues: a message that a worker did not report as failed is deleted. */
const startPollers = (
  { receiving, getQueueArn }: Stage,
  invoke: Invoke,
): (() => Promise<unknown>) => {
  let messages = 0;
  const handle = async (lambda: Lambda, queue: string, batch: readonly ReceivedMessage[]) => {
    const { Records } = createSqsEvent(queue, batch);
    const event = {
      Records: Records.map((one) => ({ ...one, eventSourceARN: getQueueArn(queue) })),
    };
    const { batchItemFailures: failed } = (await invoke(lambda, event)) as SQSBatchResponse;
    messages += batch.length;
    if (messages % TWICE_EVERY < batch.length) await invoke(lambda, event);
    for (const { receipt } of batch)
      if (!failed.some(({ itemIdentifier }) => itemIdentifier === receipt))
        await receiving.acknowledge(receipt);
  };
  const loops = workers.map(({ queue }) => {
    const { lambda, batch: max } = workerSpecs.find(
      (one) => one.queue === queue.name,
    ) as WorkerSpec;
    const working = new Set<Promise<unknown>>();
    return repeat(async () => {
      if (working.size >= (lambda.reserved ?? 1)) return;
      // An emulator may close a connection in the moment in which it is used again; the next run asks again.
      const batch = await receiving.receive(queue, { max, waitMs: 0 }).catch(() => []);
      if (batch.length === 0) return;
      // The stage's faults have what it threw.
      const work = handle(lambda, queue.name, batch).catch(() => undefined);
      working.add(work);
      void work.finally(() => working.delete(work));
    }, POLL_MS);
  });
  return () => Promise.all(loops.map((end) => end()));
};

const startSchedules = (invoke: Invoke): (() => Promise<unknown>) => {
  const loops = scheduleSpecs.map(({ lambda }) =>
    // The stage's faults have what it threw.
    repeat(() => invoke(lambda, {}).catch(() => undefined), SCHEDULE_MS),
  );
  return () => Promise.all(loops.map((end) => end()));
};

/** Amazon SES: the mail in the bucket with SES's own fields, and its envelope in the queue. */
const storeMail = async (
  { putObject, send }: Stage,
  { from, to, message }: Mail,
): Promise<void> => {
  const messageId = "4f0cjourney";
  const objectKey = `inbound/${messageId}`;
  const timestamp = new Date().toISOString();
  await putObject(
    objectKey,
    [
      `Return-Path: <${from}>`,
      `Received: from out.shop.example (out.shop.example [${SENDING_IP}]) by inbound-smtp.eu-central-1.amazonaws.com with SMTP id ${messageId} for ${to}; ${timestamp}`,
      `Received-SPF: pass (spfCheck: domain designates ${SENDING_IP}) client-ip=${SENDING_IP}; helo=out.shop.example;`,
      message,
    ].join("\r\n"),
  );
  await send("inbound-mail", {
    notificationType: "Received",
    mail: { messageId, source: from, timestamp },
    receipt: { recipients: [to], action: { type: "S3", objectKey } },
  });
};

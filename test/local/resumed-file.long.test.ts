import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { serveAccounts } from "../servers/proxied-server.ts";
import { createFolder, spawnMailproof, whenCommandedWith, whenRun } from "../servers/running.ts";

// A real process is killed at every moment that matters, and started again: it is charged once, and the results are whole.

const ADDRESSES = 40;
const LIST = `email\n${Array.from({ length: ADDRESSES }, (_, n) => `not-there-${n}@nosuch.test\n`).join("")}`;

type InterruptAt = {
  /** Method and path of a request, such as "POST /v1/verify/file". */
  readonly route: RegExp;
  /** Which of the requests of that route, from 1. */
  readonly nth: number;
  /** The process is killed before the service has the request, when its response is held back, or in its midst. */
  readonly at: "request" | "response" | "half of the response";
};

/** Between a command and the service. It says when the moment has come, and from then on lets nothing more pass. */
const whenInterposed = async (baseUrl: string, interruptAt: InterruptAt) => {
  const { promise: reached, resolve: resolveReached } = Promise.withResolvers<void>();
  let seen = 0;
  let isOver = false;
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const route = `${incoming.method} ${incoming.url?.split("?")[0]}`;
    const isInterruptPoint = !isOver && interruptAt.route.test(route) && ++seen === interruptAt.nth;
    if (isInterruptPoint && interruptAt.at === "request") return resolveReached();
    const { method, headers, url } = incoming;
    const onward = request(new URL(url ?? "", baseUrl), { method, headers }, (response) => {
      if (isInterruptPoint && interruptAt.at === "response")
        return void response.resume().once("end", resolveReached);
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      if (!isInterruptPoint) return void response.pipe(outgoing);
      response.once("data", (chunk: Buffer) =>
        outgoing.write(chunk.subarray(0, 100), () => resolveReached()),
      );
    });
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
  const proxy = createServer(forward).listen(0, "127.0.0.1");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const end = () => {
    isOver = true;
  };
  return { url, reached, end };
};

const whenAccountOpened = serveAccounts();

const givenService = async (interruptAt: InterruptAt) => {
  const { baseUrl, liveKey, client } = await whenAccountOpened();
  const folder = createFolder();
  const [file, out] = [join(folder, "list.csv"), join(folder, "results.csv")];
  writeFileSync(file, LIST);
  const proxy = await whenInterposed(baseUrl, interruptAt);
  const env = {
    MAILPROOF_DIR: folder,
    MAILPROOF_API: proxy.url,
    MAILPROOF_KEY: liveKey,
  };
  const readCharged = async () => {
    const { credits } = await client.getAccount();
    return { credits: credits.spent + credits.held, jobs: (await client.listJobs()).total };
  };
  return { env, folder, file, out, proxy, client, charged: readCharged };
};

const runAndKill = async (
  { env, proxy }: Awaited<ReturnType<typeof givenService>>,
  args: readonly string[],
) => {
  const child = spawnMailproof(args, env);
  const [err, ended] = [text(child.stderr), once(child, "exit")];
  await proxy.reached;
  child.kill("SIGKILL");
  await ended;
  proxy.end();
  return err;
};

const listRows = (csv: string) => csv.trim().split("\r\n").length - 1;

const UPLOAD: InterruptAt = { route: /^POST \/v1\/verify\/file$/, nth: 1, at: "request" };
const ACCEPT: InterruptAt = { ...UPLOAD, nth: 2 };
const WAIT: InterruptAt = { route: /^GET \/v1\/jobs\/[\w-]+$/, nth: 1, at: "request" };
const DOWNLOAD: InterruptAt = { route: /\/download$/, nth: 1, at: "request" };

test.each<[string, InterruptAt]>([
  ["before the upload", UPLOAD],
  ["after the upload, before the service received the charging request", ACCEPT],
  ["after the list was accepted, before the response arrived", { ...ACCEPT, at: "response" }],
  ["while the job waits", WAIT],
  ["before the download", DOWNLOAD],
  ["in the middle of the download", { ...DOWNLOAD, at: "half of the response" }],
])(
  "mailproof file killed %s and started again charges once and writes all rows",
  async (_, interruptAt) => {
    const service = await givenService(interruptAt);
    const { env, file, folder, out, charged: readCharged } = service;
    const args = ["file", file, "--out", out];

    await runAndKill(service, args);
    const isThereEarly = existsSync(out);
    const again = await whenRun(env, ...args);

    expect(isThereEarly).toBe(false);
    expect(again.code).toBe(0);
    expect(listRows(readFileSync(out, "utf8"))).toBe(ADDRESSES);
    expect(await readCharged()).toEqual({ credits: ADDRESSES, jobs: 1 });
    expect(readdirSync(folder).toSorted()).toEqual(["list.csv", "results.csv"]);
  },
);

test("mailproof file resumes results for standard output from a state beside the list", async () => {
  const service = await givenService(WAIT);
  const { env, file, folder, charged: readCharged } = service;

  const before = await runAndKill(service, ["file", file]);
  const state = readdirSync(folder).filter((name) => name.endsWith(".mailproof.json"));
  const again = await whenRun(env, "verify", "--file", file);

  const id = /^(job_[\w-]+): 40 addresses are being verified\. Charged: 40 credits\.$/m.exec(
    before,
  )?.[1];
  expect(id).toMatch(/^job_/);
  expect(state).toEqual(["list.csv.mailproof.json"]);
  expect(again.err).toContain(`${id}: resuming the job that this command started at `);
  expect(again.err).toContain("Nothing is charged again.");
  expect(listRows(again.out)).toBe(ADDRESSES);
  expect(await readCharged()).toEqual({ credits: ADDRESSES, jobs: 1 });
  expect(readdirSync(folder)).toEqual(["list.csv"]);
});

test("mailproof file refuses another list, column, key or service before a charge and stores no key", async () => {
  const service = await givenService(WAIT);
  const { env, file, out, client, charged: readCharged } = service;
  const args = ["file", file, "--out", out];
  await runAndKill(service, args);
  const stateFile = `${out}.mailproof.json`;
  const state = readFileSync(stateFile, "utf8");
  const { key } = await client.createApiKey({ name: "other", mode: "live" });

  const column = await whenRun(env, ...args, "--column", "email");
  const maxWait = await whenRun(env, ...args, "--max-wait", "0");
  const otherKey = await whenRun({ ...env, MAILPROOF_KEY: key }, ...args);
  const otherApi = await whenRun(env, ...args, "--api", "http://127.0.0.1:9");
  writeFileSync(file, `${LIST}more@nosuch.test\n`);
  const list = await whenRun(env, ...args);

  const createRefusal = (what: string) => ({
    code: 2,
    err: expect.stringContaining(`changed since: ${what}. Nothing was charged now.`),
  });
  expect(column).toMatchObject(createRefusal("--column"));
  expect(maxWait).toMatchObject(createRefusal("--max-wait"));
  expect(otherKey).toMatchObject(createRefusal("the API key"));
  expect(otherApi).toMatchObject(createRefusal(`the service (it was ${env.MAILPROOF_API})`));
  expect(list).toMatchObject(createRefusal("the content of the list"));
  expect(list.err).toContain(`remove ${stateFile}`);
  expect(state).not.toContain(env.MAILPROOF_KEY);
  expect(readFileSync(stateFile, "utf8")).toBe(state);
  expect(await readCharged()).toEqual({ credits: ADDRESSES, jobs: 1 });
});

test("two simultaneous commands with one output share one job", async () => {
  const { env, file, out, charged: readCharged } = await givenService({ ...UPLOAD, nth: 99 });
  const args = ["file", file, "--out", out];

  const both = await Promise.all([
    whenCommandedWith(env, ...args),
    whenCommandedWith(env, ...args),
  ]);

  expect(both.map(({ code }) => code)).toContain(0);
  expect(listRows(readFileSync(out, "utf8"))).toBe(ADDRESSES);
  expect((await readCharged()).jobs).toBe(1);
});

test("a refused list leaves no state, so the next start begins anew", async () => {
  const { env, file, folder, out } = await givenService({ ...UPLOAD, nth: 99 });

  const { code, err } = await whenRun(env, "file", file, "--out", out, "--column", "none");

  expect(code).toBe(3);
  expect(err).toContain("Nothing was charged.");
  expect(readdirSync(folder)).toEqual(["list.csv"]);
});

import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { documentsFrom } from "@mailproof/api/http/documents";
import { packClients } from "@mailproof/docs-site/clients/archives";
import { openWriters } from "@mailproof/docs-site/texts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Artefact } from "./journey.ts";
import { type Program, startProgram } from "./started.ts";

// Installs each client by the lines that the page of a server prints, runs the page's program, and plays play.ts, play.py
// or main.go through a proxy that refuses and loses requests.

const run = promisify(execFile);

const findAbsence = (program: string, ...args: readonly string[]): string | null => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return null;
  } catch {
    return `there is no ${program}`;
  }
};

type Env = Readonly<Record<string, string>>;

type ServedLanguage = {
  readonly name: string;
  /** Null: the machine has what the language needs. */
  readonly absence: string | null;
  /** An empty project, as a reader of the page has one. */
  readonly prepare: (folder: string) => Env;
  /** The page's program and ours, each under the name that its language runs. */
  readonly program: string;
  readonly played: string;
  readonly command: (file: string) => readonly [program: string, ...args: string[]];
};

const LANGUAGES: readonly ServedLanguage[] = [
  {
    name: "TypeScript",
    absence: null,
    prepare: (folder) => {
      writeFileSync(join(folder, "package.json"), '{"type": "module"}');
      return { npm_config_audit: "false", npm_config_fund: "false" };
    },
    program: "program.ts",
    played: "play.ts",
    command: (file) => [process.execPath, file],
  },
  {
    name: "Python",
    absence:
      findAbsence("python3", "-c", "import sys; assert sys.version_info >= (3, 11)") ??
      findAbsence("pip", "--version"),
    // A folder of its own takes the place of a virtual environment, which takes seconds to make.
    prepare: (folder) => ({
      PIP_TARGET: join(folder, "packages"),
      PYTHONPATH: join(folder, "packages"),
      PIP_NO_INDEX: "1",
      PIP_NO_CACHE_DIR: "1",
    }),
    program: "program.py",
    played: "play.py",
    command: (file) => ["python3", file],
  },
  {
    name: "Go",
    absence: findAbsence("go", "version"),
    prepare: (folder) => {
      writeFileSync(join(folder, "go.mod"), "module example.test/program\n\ngo 1.24\n");
      return {
        // Fresh: go would take a version that it fetched before.
        GOMODCACHE: join(folder, "modules"),
        GOFLAGS: "-modcacherw",
        GOPROXY: "off",
        GOTOOLCHAIN: "local",
        CGO_ENABLED: "0",
      };
    },
    program: "main.go",
    played: "main.go",
    command: (file) => ["go", "run", file],
  },
];

/** What happens to the requests of a route, in their order; those after the last pass. */
type Fault = "unavailable" | "limited" | "lost" | "busy for minutes";

const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  "POST /v1/verify/batch": ["unavailable", "limited", "lost"],
  "GET /v1/account": ["busy for minutes"],
};

const LIMITED_SECONDS = 1;
const BUSY_SECONDS = 600;

/** A proxy before the server that refuses requests, loses answers, and notes the key of each attempt. */
const createFaultyProxy = async (baseUrl: string) => {
  const seen: { readonly route: string; readonly key: string | undefined }[] = [];
  let limitedUntil = 0;
  let early = 0;
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse, isLost: boolean) => {
    const { method, headers, url = "" } = incoming;
    const body = await buffer(incoming);
    const sent = request(new URL(url, baseUrl), {
      method,
      headers: { ...headers, host: new URL(baseUrl).host },
    });
    sent.on("response", (answer) => {
      if (isLost) return void answer.resume().on("end", () => outgoing.destroy());
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    sent.end(body);
  };
  const refuse = (outgoing: ServerResponse, status: number, seconds: number) =>
    outgoing.writeHead(status, { "retry-after": String(seconds) }).end("a gateway's own words");
  const proxy = createServer((incoming, outgoing) => {
    const route = `${incoming.method} ${incoming.url}`;
    const attempts = seen.filter((one) => one.route === route).length;
    seen.push({ route, key: incoming.headers["idempotency-key"]?.toString() });
    if (performance.now() < limitedUntil) early++;
    const fault = FAULTS[route]?.[attempts];
    if (fault === "unavailable") return void refuse(outgoing, 503, 0);
    if (fault === "busy for minutes") return void refuse(outgoing, 429, BUSY_SECONDS);
    if (fault === "limited") {
      limitedUntil = performance.now() + LIMITED_SECONDS * 1_000;
      return void refuse(outgoing, 429, LIMITED_SECONDS);
    }
    forward(incoming, outgoing, fault === "lost").catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, seen, countEarly: () => early, close };
};

const readSection = (page: string, name: string): string => {
  const [, install = ""] =
    new RegExp(`^#+ ${name}\n\n\`\`\`sh\n([\\s\\S]*?)\n\`\`\``, "m").exec(page) ?? [];
  return install;
};

const readProgram = (page: string, name: string): string => {
  const [, text = ""] =
    new RegExp(`^\`\`\`${name.toLowerCase()}\n([\\s\\S]*?)\n\`\`\`$`, "m").exec(page) ?? [];
  return text;
};

const DOMAIN = "valid.lab.mailproof.test";
const [VALID, INVALID] = [`ada.lovelace@${DOMAIN}`, `nobody@${DOMAIN}`];

/** The first is verified alone: a second language would be charged half for an address that the first has verified. */
const listAddresses = ({ name }: ServedLanguage): readonly string[] => [
  `ada.lovelace+${name.toLowerCase()}@${DOMAIN}`,
  VALID,
  INVALID,
];

const LIST = `name,email\nAda,ada.lovelace@${DOMAIN}\nNone,nobody@${DOMAIN}\n`;

type Served = Pick<Artefact, "baseUrl" | "key">;

const readBalance = async ({ baseUrl, key }: Served): Promise<number> => {
  const response = await fetch(`${baseUrl}/v1/account`, { headers: { "x-api-key": key } });
  const { data } = (await response.json()) as { data: { credits: { available: number } } };
  return data.credits.available;
};

/** The page's program verifies two addresses; ours one alone, two in a batch, and one in a batch. */
const CREDITS = { page: 2, played: 4 };

const playPage = async (
  server: Served,
  page: string,
  language: ServedLanguage,
  folder: string,
  env: Env,
) => {
  const { name, program, command } = language;
  writeFileSync(join(folder, "customers.csv"), LIST);
  writeFileSync(join(folder, program), readProgram(page, name));
  const before = await readBalance(server);

  const [file, ...args] = command(program);
  await run(file, args, { cwd: folder, env: { ...env, MAILPROOF_KEY: server.key } });

  const rows = readFileSync(join(folder, "results.csv"), "utf8").trim().split("\r\n");
  expect(rows.map((row) => row.split(",").slice(0, 4))).toEqual([
    ["name", "email", "mailproof_email", "status"],
    ["Ada", VALID, VALID, "valid"],
    ["None", INVALID, INVALID, "invalid"],
  ]);
  return before - (await readBalance(server));
};

const playCalls = async (server: Served, language: ServedLanguage, folder: string, env: Env) => {
  const { played, command } = language;
  copyFileSync(join(import.meta.dirname, "served", played), join(folder, played));
  const proxy = await createFaultyProxy(server.baseUrl);
  const before = await readBalance(server);
  const settings = {
    MAILPROOF_API: proxy.url,
    MAILPROOF_KEY: server.key,
    ADDRESSES: listAddresses(language).join(" "),
  };

  const [file, ...args] = command(played);
  const { stdout } = await run(file, args, { cwd: folder, env: { ...env, ...settings } }).finally(
    proxy.close,
  );

  expect(JSON.parse(stdout)).toMatchObject({
    // A busy machine does not finish within the time of the request; the charge is the same.
    status: expect.stringMatching(/^(?:valid|pending)$/),
    replay: true,
    rows: [
      [VALID, "valid"],
      [INVALID, "invalid"],
    ],
    csvLines: 2,
    refusal: { code: "RATE_LIMITED", money: "nothing_charged", seconds: BUSY_SECONDS },
  });
  const { pages } = JSON.parse(stdout) as { pages: readonly number[] };
  expect(pages.length).toBeGreaterThanOrEqual(2);
  expect(new Set(pages)).toEqual(new Set([1]));
  // Four attempts of the first batch under one key, and the second batch under another one.
  const keys = proxy.seen
    .filter(({ route }) => route === "POST /v1/verify/batch")
    .map(({ key }) => key);
  expect([keys.length, new Set(keys.slice(0, 4)).size, new Set(keys).size]).toEqual([5, 1, 2]);
  expect(keys).not.toContain(undefined);
  expect(proxy.countEarly(), "attempts before Retry-After").toBe(0);
  return before - (await readBalance(server));
};

/** Installs the client as the page says, uses it as the page and play.ts do, and returns the credits that each cost. */
const useServedClient = async (
  server: Served,
  language: ServedLanguage,
): Promise<typeof CREDITS> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-served-"));
  try {
    const page = await (await fetch(`${server.baseUrl}/docs/clients.md`)).text();
    const { PATH = "", HOME = "" } = process.env;
    const env = { PATH, HOME, ...language.prepare(folder) };

    await run("bash", ["-euc", readSection(page, language.name)], { cwd: folder, env });

    return {
      page: await playPage(server, page, language, folder, env),
      played: await playCalls(server, language, folder, env),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const writeDocument = documentsFrom(openWriters);

/** For a server that serves what `describeServedClients` installs from another one. */
export const testServedFiles = (name: string, getServer: () => Pick<Artefact, "baseUrl">): void => {
  test(`${name} serves the clients' page and files as the sources produce them`, async () => {
    const { baseUrl } = getServer();
    const page = { method: "GET", rawPath: "/docs/clients.md", headers: {} };
    const files = Object.entries(await packClients());
    const expected = new Map<string, Buffer>([
      [page.rawPath, Buffer.from(writeDocument({ ...page, baseUrl }, null)?.body ?? "")],
      ...files.map(([path, bytes]) => [`/docs/clients/${path}`, bytes] as const),
    ]);
    for (const [path, bytes] of expected) {
      const response = await fetch(baseUrl + path);
      const served = Buffer.from(await response.arrayBuffer());
      expect({ path, isSame: served.equals(bytes) }).toEqual({ path, isSame: true });
    }
  });
};

/** A server of the program for these tests. */
const serveProgram = (getProgram: () => Program): (() => Artefact) => {
  const opened: (() => unknown)[] = [];
  let server: Artefact;
  beforeAll(async () => {
    server = (await startProgram(getProgram(), opened)).artefact;
  });
  afterAll(async () => {
    for (const close of opened.toReversed()) await close();
  });
  return () => server;
};

export const describeServedFiles = (name: string, getProgram: () => Program): void => {
  describe(`the files that ${name} serves`, () => {
    testServedFiles(name, serveProgram(getProgram));
  });
};

/** The three clients of one server. */
export const describeServedClients = (name: string, getProgram: () => Program): void => {
  describe(`the clients that ${name} serves`, () => {
    const getServer = serveProgram(getProgram);

    testServedFiles(name, getServer);

    test.for(LANGUAGES)(
      "the clients' page installs the client for $name, which repeats a failed call with its key",
      async (language, { skip }) => {
        if (language.absence) skip(language.absence);
        expect(await useServedClient(getServer(), language)).toEqual(CREDITS);
      },
    );
  });
};

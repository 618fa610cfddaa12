import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { describeUnless } from "../describe-when.ts";
import { PRELOADED } from "../local/running.ts";
import { watchLine } from "../log-lines.ts";

// The dashboard as people use it: the real server with the lab in a process of its own, and Chromium.

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  (path) => existsSync(path),
);

/** Pictures of every screen, for people. No test compares them. */
const PICTURES = ".cache/dashboard-pictures";

/** An axe that is the page's own: what runs by the debugger is outside its Content-Security-Policy. */
const AXE = "node_modules/axe-core/axe.min.js";

type Ready = {
  readonly base_url: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly account_id: string;
};

type RunningServer = {
  readonly ready: Ready;
  readonly folder: string;
  readonly stop: () => Promise<void>;
};

/** The settings are those of docs/settings.md. */
export const startServer = async (
  settings: Record<string, string> = {},
): Promise<RunningServer> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-"));
  const child = spawn(process.execPath, [...PRELOADED, "packages/local/src/server/main.ts"], {
    env: { PATH: process.env["PATH"] ?? "", MAILPROOF_DIR: folder, PORT: "0", ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (written: string) => {
    log += written;
    watchLine(written);
  });
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`it ended: ${log}`);
    await sleep(10);
  }
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { ready: JSON.parse(readFileSync(file, "utf8")) as Ready, folder, stop };
};

/** What the API answers when it cannot read its state. */
export const REFUSED = {
  status: 503,
  headers: { "content-type": "application/json", "x-request-id": "req_refused" },
  body: JSON.stringify({
    success: false,
    error: {
      code: "UNAVAILABLE",
      message: "The service cannot read its own state right now. Nothing was charged.",
      money: "nothing_charged",
      retryable: true,
    },
  }),
};

type View = {
  /** Below /app/; by default the overview. */
  readonly path?: string;
  /** Signs in with it before the page is opened. By default the test key; null: without a session. */
  readonly key?: "live" | "test" | null | { readonly secret: string };
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
};

/** A page, and what it should not have done. */
export type OpenedPage = {
  readonly page: Page;
  readonly ready: Ready;
  /** The server's state. */
  readonly folder: string;
  /** Errors in the console, reports of the Content-Security-Policy, requests to anything but public routes of the server. */
  readonly complaints: readonly string[];
  /** Method and URL of each request. */
  readonly requests: readonly string[];
  /** Reads the API as the page does, with the key that is signed in. */
  readonly readApi: <T>(path: string) => Promise<T>;
};

/** The browser writes a line by itself for each response that is an error: the page shows what it says. */
const IS_OF_RESPONSE =
  /^Failed to load resource: (?:the server responded with a status of|net::ERR_INTERNET_DISCONNECTED)/;

/** The dashboard's own files, the API, and what the API has links to. */
const PUBLIC = ["/app/", "/v1/", "/blobs/"];

const watchPage = (page: Page, origin: string) => {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (line) => {
    if (line.type() === "error" && !IS_OF_RESPONSE.test(line.text())) complaints.push(line.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    requests.push(`${request.method()} ${url.replace(origin, "")}`);
    if (!url.startsWith("data:") && !PUBLIC.some((path) => url.startsWith(origin + path)))
      complaints.push(`a request to ${url}`);
  });
  return { complaints, requests };
};

const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("refused by the policy: " + event.violatedDirective + " " + event.blockedURI))`;

type Dashboard = { readonly open: (view?: View) => Promise<OpenedPage> };

/** A suite in a browser, on a server of its own. */
export const describeInBrowser = (
  name: string,
  suite: (dashboard: Dashboard) => void,
  settings: Record<string, string> = {},
): void =>
  describeUnless(
    CHROMIUM === undefined ? "there is no Chromium; apt-get install chromium" : null,
    name,
    () => {
      let browser: Browser;
      let server: RunningServer;
      beforeAll(async () => {
        server = await startServer(settings);
        // As root there is no sandbox, and the page is our own.
        browser = await chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
      });
      afterAll(async () => {
        await browser.close();
        await server.stop();
      });

      const open = async ({
        path = "",
        key = "test",
        width = 1280,
        colorScheme = "light",
      }: View = {}) => {
        const { ready } = server;
        const context = await browser.newContext({
          viewport: { width, height: 800 },
          colorScheme,
          reducedMotion: "reduce",
        });
        onTestFinished(() => context.close());
        await context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await context.addInitScript(REPORT_VIOLATIONS);
        const secret = typeof key === "object" ? key?.secret : ready[`${key}_key`];
        const { origin } = new URL(ready.base_url);
        if (secret !== undefined)
          await context.addInitScript(
            `if (sessionStorage.getItem("opened") === null) {
              sessionStorage.setItem("opened", "yes");
              sessionStorage.setItem("mailproof.key", ${JSON.stringify(secret)});
              sessionStorage.setItem("mailproof.session", "a session of a test");
            }`,
          );
        const page = await context.newPage();
        page.setDefaultTimeout(100_000);
        const watched = watchPage(page, origin);
        await page.goto(`${ready.base_url}/app/${path}`);
        const readApi = async <T>(route: string): Promise<T> => {
          const headers = { "x-api-key": secret ?? "" };
          const response = await fetch(ready.base_url + route, { headers });
          return ((await response.json()) as { data: T }).data;
        };
        return { page, ready, folder: server.folder, ...watched, readApi };
      };
      suite({ open });
    },
  );

const WIDTHS = [1280, 768, 375] as const;
const COLOUR_SCHEMES = ["light", "dark"] as const;

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
};

/**
 * What every screen must be: without a violation that axe finds, no wider than the window, and without a complaint, at each
 * width, light and dark. Takes a picture of each.
 */
export const checkScreen = async (
  { page, complaints }: OpenedPage,
  name: string,
  widths: readonly number[] = WIDTHS,
): Promise<void> => {
  mkdirSync(PICTURES, { recursive: true });
  await page.evaluate(readFileSync(AXE, "utf8"));
  const faults: string[] = [];
  for (const width of widths)
    for (const colorScheme of COLOUR_SCHEMES) {
      await page.setViewportSize({ width, height: width === 375 ? 812 : 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const where = `${name} at ${width}, ${colorScheme}`;
      const wide: number = await page.evaluate("document.documentElement.scrollWidth");
      if (wide > width) faults.push(`${where}: is ${wide} wide`);
      const { violations }: AxeResult = await page.evaluate("axe.run()");
      for (const { id, help, nodes } of violations)
        faults.push(`${where}: ${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
      await page.screenshot({
        path: join(PICTURES, `${name}-${width}-${colorScheme}.png`),
        fullPage: true,
      });
    }
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
};

import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Role } from "@mailproof/core/people/roles";
import { type Browser, chromium, type Download, type Page, type Route } from "playwright-core";
import { afterEach, beforeAll, expect, inject } from "vitest";
import { watchLine } from "../app/log-lines.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { CHROMIUM_ABSENCE, createPages, type PageRequest } from "../servers/pages.ts";
import { createFolder } from "../servers/running.ts";
import { OPERATOR_KEY, type Ready, type RunningServer, startServer } from "./server.ts";

// The dashboard as people use it: the real server, and Chromium. browser.setup.ts starts both, for all files.

declare module "vitest" {
  interface ProvidedContext {
    dashboard: {
      readonly server: RunningServer;
      /** Where the browser of each worker is connected to. */
      readonly browsers: readonly string[];
    };
  }
}

/** With PICTURES=FOLDER a run leaves a picture of each screen, for people. No test compares them. */
export const takePicture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env["PICTURES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
};

/** An axe that is the page's own: what runs by the debugger is outside its Content-Security-Policy. */
const AXE = "node_modules/axe-core/axe.min.js";

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

export type View = {
  /** Below /app/; by default the overview. */
  readonly path?: string;
  /** Signs in with it before the page is opened. By default the test key; null: without a session. */
  readonly key?: "live" | "test" | null | { readonly secret: string };
  /** Signs in a new member with this role in place of a key, at the name localhost, where browsers allow passkeys. */
  readonly role?: Role;
  /** The name localhost without a session. */
  readonly isForPeople?: true;
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
} & Pick<PageRequest, "isAlone">;

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

/** The dashboard's own files, the API, what the API has links to, and what Ctrl K finds in the manual. */
const PUBLIC = ["/app/", "/v1/", "/blobs/", "/docs/search.json"];

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

/** Counts what the page has asked for: see waitUntilLoaded. */
const COUNT_REQUESTS = `{
  const { fetch } = window;
  window.underWay = 0;
  window.fetch = async (...request) => {
    window.underWay++;
    const end = () => window.underWay--;
    try {
      const response = await fetch(...request);
      response.clone().text().then(end, end);
      return response;
    } catch (error) {
      end();
      throw error;
    }
  };
}`;

const IS_LOADED = `(async () => {
  // What a screen asks for begins after it has been drawn, and what it has got is drawn in the next frame.
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const isLoaded = () => window.underWay === 0 &&
    document.querySelector("main h1") !== null && document.querySelector("main .waiting") === null;
  for (let frames = 0; frames < 3; frames = isLoaded() ? frames + 1 : 0) await nextFrame();
})()`;

/** Until no request is under way, and what the screen shows of the API is there. */
export const waitUntilLoaded = async ({ page }: Pick<OpenedPage, "page">): Promise<void> => {
  await page.evaluate(IS_LOADED);
};

/** Presses each Retry at once: what loads by itself meanwhile is gone, and not missing. */
export const retryAll = async (page: Page): Promise<void> => {
  await page.evaluate(
    `for (const button of document.querySelectorAll("main [role=alert] > button")) button.click()`,
  );
  await expect.poll(() => page.getByRole("alert").count(), { timeout: 20_000 }).toBe(0);
};

/**
 * What a person does before the API answers: a second press on a busy machine would come after the answer, and be another
 * intention. The route stays: Playwright forgets a request that begins while its last route is taken away.
 */
export const beforeAnswer = async (page: Page, act: () => Promise<void>): Promise<void> => {
  const done = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    await done.promise;
    await route.fallback();
  };
  await page.route("**/v1/**", hold);
  await act();
  done.resolve();
};

/** What a button or key copies. The clipboard is emptied before, so that what an earlier test has copied is never read. */
export const readCopied = async (page: Page, act: () => Promise<void>): Promise<string> => {
  await page.evaluate('navigator.clipboard.writeText("")');
  await act();
  let copied = "";
  await expect
    .poll(async () => (copied = await page.evaluate("navigator.clipboard.readText()")))
    .not.toBe("");
  return copied;
};

/** The browser is another process's, so its file is copied: where it is while the test runs. */
export const saveDownload = async (download: Download): Promise<string> => {
  const path = join(createFolder(), download.suggestedFilename());
  await download.saveAs(path);
  return path;
};

/** Runs a command of `mailproof admin` on the server. */
export const callOperator = async <T>(
  { base_url }: Pick<Ready, "base_url">,
  command: string,
  options: object,
): Promise<T> => {
  const response = await fetch(`${base_url}/v1/operator/${command}`, {
    method: "POST",
    headers: { "x-api-key": OPERATOR_KEY, "content-type": "application/json" },
    body: JSON.stringify(options),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { data: T }).data;
};

/** An account of its own, with what the demo account has. */
const openAccount = async (name: string, { ready }: RunningServer): Promise<Ready> => ({
  ...ready,
  ...(await callOperator<Ready>(ready, "accounts.create", {
    name,
    plan: "scale",
    credits: "1000000",
  })),
});

/** The link of an invitation into the account. */
export const invite = async (ready: Ready, role: Role): Promise<string> =>
  (
    await callOperator<{ url: string }>(ready, "people.invite", {
      account: ready.account_id,
      role,
    })
  ).url;

/** Accepts an invitation as its page does. Returns the session's cookie. */
const beginSession = async (ready: Ready, role: Role): Promise<string> => {
  const [, token] = (await invite(ready, role)).split("#");
  const response = await fetch(`${ready.base_url}/v1/sign-in/link`, {
    method: "POST",
    headers: { origin: new URL(ready.base_url).origin, "content-type": "application/json" },
    body: JSON.stringify({ token, accept: true, name: "Grace Hopper" }),
  });
  return /^__Host-mailproof=([^;]+)/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? "";
};

/** A secret in the server's log fails the test (test/runner/log-lines.setup.ts). */
const watchLog = (getPath: () => string): void => {
  let log = 0;
  beforeAll(() => {
    log = openSync(getPath(), "r");
    return () => closeSync(log);
  });
  // Each time from where it was read to before.
  afterEach(() => readFileSync(log, "utf8").split("\n").forEach(watchLine));
};

/** This worker's browser. Files share a worker, so they share its connection and its pages. */
const connections = new Map<string, Promise<Browser>>();

const connect = (): Promise<Browser> => {
  // Workers count from 1.
  const endpoint = inject("dashboard").browsers[Number(process.env["VITEST_POOL_ID"]) - 1] ?? "";
  const connection = connections.get(endpoint) ?? chromium.connect(endpoint);
  connections.set(endpoint, connection);
  return connection;
};

const getPage = createPages(async (browser) => {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await context.addInitScript(REPORT_VIOLATIONS);
  await context.addInitScript(COUNT_REQUESTS);
  return context;
});

/**
 * Runs in the first document of a test. The page may still store data of an earlier test: after Back to a blank document of
 * another server, resetPage cannot clear them.
 */
const storeSession = (secret: string | undefined): string => {
  const test = JSON.stringify(randomUUID());
  const session = { "mailproof.key": secret, "mailproof.session": secret && "a session of a test" };
  return `
  if (sessionStorage.getItem("opened") !== ${test}) {
    sessionStorage.clear();
    localStorage.clear();
    sessionStorage.setItem("opened", ${test});
    for (const [name, text] of Object.entries(${JSON.stringify(session)})) sessionStorage.setItem(name, text);
  }`;
};

const toSecret = (ready: Ready, key: NonNullable<View["key"]>): string =>
  typeof key === "object" ? key.secret : ready[`${key}_key`];

type Dashboard = { readonly open: (view?: View) => Promise<OpenedPage> };

/** A suite in a browser, with its own account; with settings, on its own server. */
export const describeInBrowser = (
  name: string,
  suite: (dashboard: Dashboard) => void,
  settings?: Record<string, string>,
): void =>
  describeUnless(CHROMIUM_ABSENCE, name, () => {
    let browser: Browser;
    let server: RunningServer;
    let ready: Ready;
    beforeAll(async () => {
      browser = await connect();
      if (settings === undefined) {
        server = inject("dashboard").server;
        ready = await openAccount(name, server);
        return undefined;
      }
      const { stop, ...own } = await startServer(settings);
      server = own;
      ready = own.ready;
      return stop;
    });
    watchLog(() => server.log);

    const open = async ({
      path = "",
      key = "test",
      role,
      isForPeople,
      width = 1280,
      colorScheme = "light",
      isAlone = false,
    }: View = {}) => {
      const isKey = role === undefined && isForPeople === undefined;
      const secret = !isKey || key === null ? undefined : toSecret(ready, key);
      const baseUrl = isKey ? ready.base_url : ready.base_url.replace("127.0.0.1", "localhost");
      const page = await getPage(browser, { initScript: storeSession(secret), isAlone });
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ media: null, colorScheme, reducedMotion: "reduce" });
      const { origin } = new URL(baseUrl);
      const watched = watchPage(page, origin);
      await page.context().clearCookies();
      if (role !== undefined) {
        const cookie = { name: "__Host-mailproof", value: await beginSession(ready, role) };
        const attributes = { path: "/", secure: true, httpOnly: true, sameSite: "Lax" } as const;
        await page.context().addCookies([{ ...cookie, ...attributes, domain: "localhost" }]);
      }
      await page.goto(`${baseUrl}/app/${path}`);
      const readApi = async <T>(route: string): Promise<T> => {
        const headers = { "x-api-key": secret ?? "" };
        const response = await fetch(ready.base_url + route, { headers });
        return ((await response.json()) as { data: T }).data;
      };
      const shown = { ...ready, base_url: baseUrl };
      return { page, ready: shown, folder: server.folder, ...watched, readApi };
    };
    suite({ open });
  });

const WIDTHS = [1280, 768, 375] as const;
const COLOUR_SCHEMES = ["light", "dark"] as const;
type ColourScheme = (typeof COLOUR_SCHEMES)[number];
/** Colours depend on the scheme and hardly on the width, so of several widths only the first has both. */
const SCHEMES: Readonly<Record<number, readonly ColourScheme[]>> = {
  1280: COLOUR_SCHEMES,
  768: ["light"],
  375: ["dark"],
};

/** What passes is not described: that takes longer than to find it. */
const RUN_AXE = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) => ({ violations }))`;

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly help: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
};

/** Axe finds no violation on the screen, it is no wider than the window, and it causes no complaint. */
export const checkScreen = async (
  { page, complaints }: OpenedPage,
  name: string,
  widths: readonly number[] = WIDTHS,
): Promise<void> => {
  await page.evaluate(readFileSync(AXE, "utf8"));
  const faults: string[] = [];
  for (const width of widths)
    for (const colorScheme of (widths.length > 1 && SCHEMES[width]) || COLOUR_SCHEMES) {
      await page.setViewportSize({ width, height: width === 375 ? 812 : 800 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const where = `${name} at ${width}, ${colorScheme}`;
      const wide: number = await page.evaluate("document.documentElement.scrollWidth");
      if (wide > width) faults.push(`${where}: is ${wide} wide`);
      const { violations }: AxeResult = await page.evaluate(RUN_AXE);
      for (const { id, help, nodes } of violations)
        faults.push(`${where}: ${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
      await takePicture(page, `${name}-${width}-${colorScheme}`);
    }
  expect(faults).toEqual([]);
  expect(complaints).toEqual([]);
};

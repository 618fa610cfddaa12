import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { METRICS_ON_MACHINE } from "@mailproof/core/background/metric-names";
import { HOUR_MS } from "@mailproof/core/lib/time";
import { createCircuitBreaker } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-breaker";
import type { LocalWorld } from "@mailproof/local/app";
import { addGauges } from "@mailproof/local/metrics/gauges";
import { addReading, formatMetrics } from "@mailproof/local/metrics/registry";
import { Registry } from "prom-client";
import { beforeAll, expect, test, vi } from "vitest";
import { givenWorld } from "../app/given.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { eventually } from "../runner/eventually.ts";
import { createFolder, serveFile, whenStarted } from "../servers/running.ts";

const PROMTOOL = ".cache/prometheus/usr/bin/promtool";
const ALERTS = "deploy/monitoring/alerts.yml";

const { server } = serveFile(async () => ({ METRICS_PORT: "0" }));
let used: { readonly text: string; readonly url: string };

/** The server has answered, verified and charged. */
beforeAll(async () => {
  const { ready } = await server;
  const { base_url: base, live_key: key } = ready;
  const { metrics_url: url } = ready as typeof ready & { metrics_url: string };
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const verify = (email: string) =>
    fetch(`${base}/v1/verify`, { method: "POST", headers, body: JSON.stringify({ email }) });
  await verify("ada.lovelace@valid.lab.mailproof.test");
  await verify("nobody@valid.lab.mailproof.test");
  await verify("nobody");
  await fetch(`${base}/v1/nothing`);
  await (await fetch(`${base}/v1/account`, { headers })).text();
  const scrape = async () => (await fetch(url)).text();
  // A request counts when its response has ended, which the client may see a moment earlier.
  const text = await eventually(async () => {
    const found = await scrape();
    if (!found.includes('route="GET /v1/account",status="200"} 1')) throw new Error("not counted");
    return found;
  });
  used = { text, url };
});

const readValue = (text: string, sample: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
};

test("a scrape contains the server's requests, verdicts, sessions and credits", async () => {
  const { text, url } = used;
  const value = (sample: string) => readValue(text, sample);

  expect(value('mailproof_http_requests_total{route="POST /v1/verify",status="200"}')).toBe(3);
  expect(value('mailproof_http_requests_total{route="none",status="404"}')).toBe(1);
  const verify = 'route="POST /v1/verify"';
  expect(value(`mailproof_http_request_duration_seconds_count{${verify}}`)).toBe(3);
  expect(value(`mailproof_http_request_duration_seconds_bucket{le="+Inf",${verify}}`)).toBe(3);
  expect(value('mailproof_verifications_total{status="valid",provider="other"}')).toBe(1);
  expect(value('mailproof_verifications_total{status="invalid",provider="other"}')).toBe(1);
  expect(value('mailproof_verifications_total{status="invalid",provider="none"}')).toBe(1);
  expect(value('mailproof_smtp_sessions_total{outcome="connected"}')).toBeGreaterThan(0);
  const moved = (kind: string) => value(`mailproof_credits_moved_total{kind="${kind}"}`) ?? 0;
  expect(moved("grant")).toBe(1_000_000);
  expect(moved("hold")).toBe(moved("settle") + moved("release"));
  expect(moved("hold") + moved("charge")).toBeGreaterThan(0);
  const readOpen = async () =>
    readValue(await (await fetch(url)).text(), "mailproof_smtp_sessions_open");
  await vi.waitFor(async () => expect(await readOpen()).toBe(0), { timeout: 20_000 });
  expect(value('mailproof_sqlite_size_bytes{database="state"}')).toBeGreaterThan(1_000);
  expect(value("mailproof_due_age_seconds")).toBe(0);
  expect(value('mailproof_slot_wait_seconds_count{provider="other"}')).toBe(2);
  expect(text).toMatch(/mailproof_build_info\{version="[\d.]+",node="v\d+/);
  expect(text).not.toContain("ada@");
  expect((await fetch(url.replace("/metrics", "/v1/account"))).status).toBe(404);
});

test("the server exposes no metrics without METRICS_PORT and never at the API's port", async () => {
  const { ready, stop } = await whenStarted(createFolder());

  expect(ready).not.toHaveProperty("metrics_url");
  expect((await fetch(`${ready.base_url}/metrics`)).status).toBe(404);
  await stop("SIGTERM");
});

test("a scrape omits and reports a metric that cannot be read, and contains the others", async () => {
  const registry = new Registry();
  const failed: string[] = [];
  addReading(registry, "mailproof_sqlite_size_bytes", () =>
    Promise.reject(new Error("the disk is gone")),
  );
  addReading(registry, "mailproof_clock_jump_seconds", () => [{ value: 1.5 }]);

  const text = await formatMetrics(registry, (name) => failed.push(name));

  expect(readValue(text, "mailproof_clock_jump_seconds")).toBe(1.5);
  expect(text).not.toContain("sqlite");
  expect(failed).toEqual(["mailproof_sqlite_size_bytes"]);
});

test("a mail provider that refuses our sessions appears with its name and the exit until it accepts them", async () => {
  const { world, table, later } = givenWorld();
  const registry = new Registry();
  addGauges(registry, world as LocalWorld, createFolder())();
  const read = async () =>
    (await registry.getSingleMetricAsString("mailproof_mail_provider_blocked"))
      .split("\n")
      .filter((line) => !line.startsWith("#"));
  const exit = "192.0.2.1:1080";
  const breaker = createCircuitBreaker({ ...world, exits: [exit] });
  const reply = { code: 550, enhanced: "5.7.1", text: "blocked, ann@secret.example" };
  const refused = { host: "mx.google.com", ip: "192.0.2.20", stage: "mail", reply } as const;
  const whenReplied = async (refusal: typeof refused | null): Promise<void> => {
    const subject = { providerKey: "google", domain: "a.example", account: "", refusedExits: [] };
    const admission = await breaker.admit(subject, exit);
    if (admission.kind === "admitted")
      await breaker.record("google", admission, [{ about: null, refusal }]);
  };
  for (let sessions = 0; sessions < 3; sessions++) await whenReplied(refused);

  expect(await read()).toEqual([
    'mailproof_mail_provider_blocked{provider="google",exit="192.0.2.1:1080"} 1',
  ]);
  later(HOUR_MS);
  await whenReplied(null);
  expect(await read()).toEqual([]);
  expect(table.items()).toEqual([]);
});

/** Names of ours in an expression; those of a histogram's parts are its own. */
const findNames = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:mailproof|process)_\w+/g)].map(([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ""),
  );

test("every alert and every panel uses a metric that the server exposes", () => {
  const { text } = used;
  const existing = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));
  expect([...existing].toSorted()).toEqual(Object.keys(METRICS_ON_MACHINE).toSorted());
  const rules = [...readFileSync(ALERTS, "utf8").matchAll(/expr: (["'])(.*)\1/g)].map(
    ([, , found = ""]) => found,
  );
  const dashboard = JSON.parse(readFileSync("deploy/monitoring/dashboard.json", "utf8")) as {
    panels: { targets: { expr: string }[] }[];
  };
  const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

  expect(rules.length).toBeGreaterThan(10);
  expect(panels.length).toBeGreaterThan(15);
  const named = [...rules, ...panels].flatMap(findNames);
  expect(named.filter((name) => !existing.has(name))).toEqual([]);
  const unused = [...existing].filter((name) => name && !named.includes(name));
  expect(unused).toEqual(["process_start_time_seconds", "mailproof_clock_jump_seconds"]);
});

describeUnless(
  existsSync(PROMTOOL) ? null : `there is no ${PROMTOOL}: run scripts/fetch-debian.sh`,
  "promtool",
  () => {
    test("promtool accepts a scrape", () => {
      const { text: input } = used;

      expect(execFileSync(PROMTOOL, ["check", "metrics"], { input }).toString()).toBe("");
    });

    test("promtool accepts the alert rules", () => {
      expect(execFileSync(PROMTOOL, ["check", "rules", ALERTS]).toString()).toContain(
        "SUCCESS: 16 rules found",
      );
    });
  },
);

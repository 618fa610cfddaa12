import { setTimeout } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import { createLabToken } from "@mailproof/lab/issuer-tokens";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { parse as parseCsv } from "csv-parse/sync";
import { createLocalJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { beforeAll, describe, expect, test } from "vitest";
import { createDmarcReport, createRecord } from "../things/made-reports.ts";
import { type Answer, type Ask, createKey, openService } from "./service.ts";

// One customer's way through the whole product, from the first verdict to the last line of the ledger. Each artefact
// that users run takes it as it ships: it needs a base URL and a key, and speaks HTTP and SMTP only. The verdicts and
// prices are those of the lab's domains (docs/lab.md), so the artefact must ask the lab instead of the internet.
//
//   describeJourney("the sources", async () => ({ baseUrl, key, capabilities }));
//
// The steps are in order: the last ones read the ledger of all before.

/** What of the journey an artefact has. Null or false leaves the steps about it out; the report names them. */
export type Capabilities = {
  /** The built-in lab plays the issuer of proofs of control, so that a token of the lab is proof. */
  readonly control: boolean;
  /** Brings a mail to the artefact as a stranger's mail server would. It resolves when the artefact has accepted it. */
  readonly deliverMail: ((mail: Mail) => Promise<void>) | null;
  /** An https endpoint of ours that the artefact can reach and may call. */
  readonly hooks: Hooks | null;
  /** It serves the manual at /docs and the dashboard at /app/. */
  readonly pages: boolean;
  /** Runs `mailproof admin <words>` of the artefact beside it; the result is the JSON that it prints. */
  readonly admin: ((...words: readonly string[]) => Promise<any>) | null;
  /** An absent folder for `admin backup --to`; it needs `admin`. */
  readonly backupFolder: string | null;
};

export type Artefact = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** A live key without scopes, of an account without history that has 100 credits or more. */
  readonly key: string;
  /** Where agents find their tools. Undefined: `${baseUrl}/mcp`. */
  readonly mcpUrl?: string;
  /** The address that the lab's SPF record of good.senders allows. Undefined: 192.0.2.10. */
  readonly sendingIp?: string;
  readonly capabilities: Capabilities;
};

export type Mail = { readonly from: string; readonly to: string; readonly message: string };

export type HookCall = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
export type Hooks = {
  readonly url: string;
  /** The calls so far, in their order. */
  readonly received: readonly HookCall[];
};

type Journey = {
  readonly artefact: Artefact;
  readonly ask: Ask;
  /** What the ledger must have at the end, as "hold 1 verify" or "release 1 verify cancelled". */
  readonly moves: string[];
  /** What steps hand on to later ones. */
  readonly found: { opening: number; job: string };
};

export type Step = {
  /** A sentence: the report of a failure. */
  readonly name: string;
  readonly needs?: keyof Capabilities;
  readonly take: (journey: Journey) => Promise<void>;
};

export const LAB = "lab.mailproof.test";
const VALID = `ada.lovelace@valid.${LAB}`;
const INVALID = `nobody@valid.${LAB}`;
/** The lab's good.senders sends from it. */
const SENDING_IP = "192.0.2.10";
const PAGE = "https://shop.example";
const NONCE = "a nonce of the page";

const startJourney = async (artefact: Artefact): Promise<Journey> => {
  const ask = await openService(artefact.baseUrl, artefact.key);
  return { artefact, ask, moves: [], found: { opening: 0, job: "" } };
};

/** A price that is held and paid when the work ends. */
const pay = ({ moves }: Journey, credits: number, operation: string): void => {
  moves.push(`hold ${credits} ${operation}`, `settle ${credits} ${operation}`);
};

/** What a poll waits between two requests, and so long in all: minutes more than any machine takes. */
const POLL_MS = 100;
const POLLS_MAX = 3_000;

const poll = async <T>(wanted: string, read: () => Promise<T | undefined>): Promise<T> => {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const found = await read();
    if (found !== undefined) return found;
    await setTimeout(POLL_MS);
  }
  throw new Error(`The journey waited in vain for ${wanted}.`);
};

const whenJobEnded = ({ ask }: Journey, id: string): Promise<any> =>
  poll(`the end of the job ${id}`, async () => {
    const query = { include_results: "false" };
    const { data } = await ask("GET /v1/jobs/{id}", { path: { id }, query });
    return ["pending", "processing"].includes(data.status) ? undefined : data;
  });

const verify = ({ ask }: Journey, body: object, idempotencyKey = createKey()): Promise<Answer> =>
  ask("POST /v1/verify", { body, idempotencyKey });

const expectAnswer = (answer: Answer, status: number, fields: object): void => {
  if (answer.status !== status)
    throw new Error(`The answer is ${answer.status}, not ${status}: ${answer.text}`);
  expect(answer.data).toMatchObject(fields);
};

/** Rows of the list below, and what the lab says of them. */
const LIST = [
  "name,email,team",
  `"Lovelace, Ada",${VALID},red`,
  `Nobody,${INVALID},blue`,
  `Everybody,ada.lovelace@catchall.${LAB},red`,
  `Twice,${VALID},red`,
  "No address,none,blue",
  `Typo,ada.lovelace@vaild.${LAB},blue`,
  "",
].join("\n");
const LIST_ADDRESSES = [
  VALID,
  INVALID,
  `ada.lovelace@catchall.${LAB}`,
  `ada.lovelace@vaild.${LAB}`,
];

const FILED = {
  total_submitted: 6,
  unique_emails: 4,
  duplicates_removed: 1,
  invalid_emails_skipped: 1,
  credits_used: 4,
};

/** The part of a spreadsheet with its rows: a member of the ZIP archive, found by the archive's own directory. */
const readSheet = (xlsx: Buffer): string => {
  const name = Buffer.from("xl/worksheets/sheet1.xml");
  const SIGNATURE = Buffer.from("PK\u0001\u0002", "latin1");
  for (let at = xlsx.indexOf(SIGNATURE); at >= 0; at = xlsx.indexOf(SIGNATURE, at + 4)) {
    const nameAt = at + 46;
    if (!xlsx.subarray(nameAt, nameAt + xlsx.readUInt16LE(at + 28)).equals(name)) continue;
    const local = xlsx.readUInt32LE(at + 42);
    const contentAt = local + 30 + xlsx.readUInt16LE(local + 26) + xlsx.readUInt16LE(local + 28);
    const content = xlsx.subarray(contentAt, contentAt + xlsx.readUInt32LE(at + 20));
    return (xlsx.readUInt16LE(at + 10) === 0 ? content : inflateRawSync(content)).toString();
  }
  throw new Error("The spreadsheet has no first sheet.");
};

const createForm = (fields: Readonly<Record<string, string>>, name: string, content: string) => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new Blob([content]), name);
  return form;
};

const readText = (content: readonly { readonly type: string; readonly text?: string }[]): string =>
  content.map(({ text = "" }) => text).join("\n");

/** The SDK's client: it knows the protocol, and nothing of this service. */
const callTool = async (
  { artefact: { baseUrl, key, mcpUrl = `${baseUrl}/mcp` } }: Journey,
  name: string,
  args: Record<string, unknown>,
): Promise<any> => {
  const client = new Client({ name: "journey", version: "1.0.0" }, {});
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit: { headers } }),
  );
  try {
    return await poll(`an answer of the tool ${name}`, async () => {
      const answer = await client.callTool({ name, arguments: args });
      if (!answer.isError) return answer.structuredContent;
      const [, seconds] = /\nRetry after (\d+) s\.$/.exec(readText(answer.content)) ?? [];
      // A busy service says when to come back; the idempotency key makes that safe.
      if (seconds === undefined)
        throw new Error(`The tool ${name} failed: ${readText(answer.content)}`);
      return undefined;
    });
  } finally {
    await client.close();
  }
};

const dayBefore = (days: number): number => Math.floor(Date.now() / 86_400_000 - days) * 86_400;

const verifying: readonly Step[] = [
  {
    name: "GET /health answers healthy, and the key's account has no history",
    take: async ({ ask, found }) => {
      expectAnswer(await ask("GET /health"), 200, { status: "healthy" });
      const { data } = await ask("GET /v1/account");
      expect(data).toMatchObject({ credits: { held: 0, used: 0 }, key: { mode: "live" } });
      found.opening = data.credits.available;
    },
  },
  {
    name: "an existing mailbox costs one credit as valid, and the repeat with its key costs nothing",
    take: async (journey) => {
      const key = createKey();
      const answer = { email: VALID, status: "valid", reason: "accepted", cached: false };
      expectAnswer(await verify(journey, { email: VALID }, key), 200, {
        ...answer,
        credits_used: 1,
      });
      pay(journey, 1, "verify");
      expectAnswer(await verify(journey, { email: VALID }, key), 200, {
        ...answer,
        credits_used: 0,
        idempotent_replay: true,
      });
      const other = await verify(journey, { email: INVALID }, key);
      expect([other.status, other.error.money]).toEqual([409, "nothing_charged"]);
    },
  },
  {
    name: "an absent mailbox returns invalid with the mail server's reply and a receipt that jose verifies",
    take: async (journey) => {
      const options = { include_evidence: true, include_receipt: true };
      const answer = await verify(journey, { email: INVALID, options });
      expectAnswer(answer, 200, {
        status: "invalid",
        reason: "mailbox_not_found",
        evidence: { reply: { code: 550, enhanced: "5.1.1" } },
        credits_used: 1,
      });
      pay(journey, 1, "verify");
      const claims = await readReceipt(journey, answer.data.receipt);
      expect(claims).toMatchObject({ mode: "live", status: "invalid", credits: 1 });
    },
  },
  {
    name: "the cache returns a verdict of the last day for half a credit",
    take: async (journey) => {
      const answer = await verify(journey, { email: VALID });
      expectAnswer(answer, 200, { status: "valid", cached: true, credits_used: 0.5 });
      journey.moves.push("charge 0.5 verify");
    },
  },
  {
    name: "a greylisted address answers pending, its job waits, and cancelling the job returns the credit",
    take: async (journey) => {
      const pending = await verify(journey, { email: `ada.lovelace@greylist.${LAB}` });
      expectAnswer(pending, 200, { status: "pending", credits_used: 1 });
      const path = { id: pending.data.job_id as string };
      const { data: job } = await journey.ask("GET /v1/jobs/{id}", { path });
      expect(job).toMatchObject({ kind: "single", deferred: { by_reason: { greylisted: 1 } } });
      const cancelled = await journey.ask("POST /v1/jobs/{id}/cancel", { path });
      expectAnswer(cancelled, 200, { status: "cancelled", credits_refunded: 1 });
      journey.moves.push("hold 1 verify", "release 1 verify cancelled");
    },
  },
  {
    name: "a proof of control returns valid for half a credit without a mail server",
    needs: "control",
    take: async (journey) => {
      const email = `grace.hopper@valid.${LAB}`;
      const about = { nonce: NONCE, origin: PAGE };
      const token = await createLabToken(LAB, { email, at: new Date(), ...about });
      const answer = await verify(journey, { email, control: { token, ...about } });
      expectAnswer(answer, 200, {
        status: "valid",
        reason: "controlled",
        control: { status: "controlled", issuer: `issuer.${LAB}` },
        verification: { smtp_check: false },
        credits_used: 0.5,
      });
      journey.moves.push("charge 0.5 verify");
    },
  },
  {
    name: "a failed proof of control states its fault, and the service verifies the mailbox as usual",
    take: async (journey) => {
      const control = { token: "no token", nonce: NONCE, origin: PAGE };
      const answer = await verify(journey, { email: `jane@valid.${LAB}`, control });
      expectAnswer(answer, 200, {
        status: "valid",
        reason: "accepted",
        control: { status: "malformed" },
        credits_used: 1,
      });
      pay(journey, 1, "verify");
    },
  },
];

const readReceipt = async ({ ask }: Journey, receipt: string) => {
  const { data } = await ask("GET /.well-known/jwks.json");
  return (await jwtVerify(receipt, createLocalJWKSet(data))).payload;
};

const lists: readonly Step[] = [
  {
    name: "a batch's job returns a verdict per address, and an address that refused our IP costs nothing",
    take: async (journey) => {
      const emails = [VALID, INVALID, `ada.lovelace@blocked.${LAB}`];
      const body = { name: "a batch", emails, options: { max_wait_minutes: 0 } };
      const idempotencyKey = createKey();
      const submit = () => journey.ask("POST /v1/verify/batch", { body, idempotencyKey });
      const accepted = await submit();
      expectAnswer(accepted, 202, { total_emails: 3, credits_used: 3, idempotent_replay: false });
      expectAnswer(await submit(), 202, {
        job_id: accepted.data.job_id,
        credits_used: 0,
        idempotent_replay: true,
      });
      expect(await whenJobEnded(journey, accepted.data.job_id)).toMatchObject({
        name: "a batch",
        status: "completed",
        progress: { total: 3, processed: 3, valid: 1, invalid: 1, unknown: 1 },
        credits_refunded: 1,
      });
      journey.moves.push("charge 3 verify_batch", "refund 1 verify_batch not_reached");
    },
  },
  {
    name: "the service processes a file uploaded by its link once per key and completes its job",
    take: async (journey) => {
      const { ask, found } = journey;
      const route = "POST /v1/verify/file";
      const name = { action: "get_upload_url", file_name: "customers.csv" };
      const { data: link } = await ask(route, { body: name });
      const put = await fetch(link.upload_url, { method: "PUT", body: LIST });
      if (!put.ok) throw new Error(`PUT of the file is ${put.status}: ${await put.text()}`);
      const body = { action: "process", file_key: link.file_key, name: "by link" };
      const idempotencyKey = createKey();
      const accepted = await ask(route, { body, idempotencyKey });
      expectAnswer(accepted, 202, { ...FILED, file: { email_column: "email", has_header: true } });
      const repeat = await ask(route, { body, idempotencyKey });
      expect([repeat.data.job_id, repeat.data.idempotent_replay]).toEqual([
        accepted.data.job_id,
        true,
      ]);
      found.job = accepted.data.job_id;
      expect(await whenJobEnded(journey, found.job)).toMatchObject({
        kind: "file",
        status: "completed",
        progress: { total: 4, processed: 4, valid: 1, invalid: 2, risky: 1, unknown: 0 },
        summary: { reasons: { accepted: 1, mailbox_not_found: 1, catch_all: 1 } },
      });
      pay(journey, 4, "verify_file");
    },
  },
  {
    name: "the service accepts a file by form and completes its job",
    take: async (journey) => {
      const body = createForm({ name: "by form", has_header: "true" }, "customers.csv", LIST);
      const idempotencyKey = createKey();
      const accepted = await journey.ask("POST /v1/verify/file", { body, idempotencyKey });
      expectAnswer(accepted, 202, FILED);
      expect(await whenJobEnded(journey, accepted.data.job_id)).toMatchObject({
        name: "by form",
        status: "completed",
        progress: { processed: 4 },
      });
      pay(journey, 4, "verify_file");
      const { data } = await journey.ask("GET /v1/jobs", { query: { status: "completed" } });
      expect(data.jobs.map(({ name }: { name?: string }) => name)).toEqual([
        "by form",
        "by link",
        "a batch",
      ]);
    },
  },
  {
    name: "the service filters, searches, sorts and pages a job's rows with their columns and facets",
    take: async ({ ask, found }) => {
      const path = { id: found.job };
      const read = async (query: Record<string, string>) =>
        (await ask("GET /v1/jobs/{id}", { path, query })).data;
      const sorted = await read({ sort: "-score", limit: "3", columns: "true", facets: "true" });
      expect(sorted.columns).toEqual(["name", "email", "team"]);
      expect(sorted.results[0]).toMatchObject({
        row: 2,
        email: VALID,
        cells: ["Lovelace, Ada", VALID, "red"],
      });
      expect(sorted.facets).toMatchObject({
        status: { valid: 1, invalid: 2, catch_all: 1 },
        send: { yes: 1, careful: 1, no: 2 },
      });
      const rest = await read({ sort: "-score", limit: "3", next_key: sorted.next_key });
      const emails = [...sorted.results, ...rest.results].map(({ email }) => email as string);
      expect(emails.toSorted()).toEqual(LIST_ADDRESSES.toSorted());
      const filtered = await read({ filter: "status:invalid", q: "NOBODY" });
      expect(filtered.results).toMatchObject([{ email: INVALID, status: "invalid" }]);
      const row = await ask("GET /v1/jobs/{id}/results/{row}", { path: { ...path, row: "2" } });
      expectAnswer(row, 200, { email: VALID, status: "valid", columns: { team: "red" } });
    },
  },
  {
    name: "a job downloads as CSV, JSON and a spreadsheet, with and without a filter",
    take: async ({ ask, found }) => {
      const download = (query: Record<string, string> = {}) =>
        ask("GET /v1/jobs/{id}/download", { path: { id: found.job }, query });
      const none = { email: INVALID, status: "invalid" };
      for (const [filter, rows] of [
        [undefined, 4],
        ["invalid", 2],
        ["reason:mailbox_not_found", 1],
      ] as const) {
        const query = filter ? { filter } : {};
        const csv = await download(query);
        const records = parseCsv(csv.bytes, { columns: true, bom: true }) as object[];
        expect(records).toHaveLength(rows);
        expect(records).toContainEqual(expect.objectContaining({ ...none, team: "blue" }));
        expect(csv.headers["content-disposition"]).toMatch(/^attachment; filename=/);

        const json = await download({ format: "json", ...query });
        expect(json.data).toMatchObject({ complete: true, expected_rows: rows, rows_missing: 0 });
        expect(json.data.rows).toContainEqual(expect.objectContaining(none));

        const sheet = readSheet((await download({ as: "spreadsheet", ...query })).bytes);
        expect(sheet.match(/<row\b/g)).toHaveLength(rows + 1);
        expect(sheet).toContain(INVALID);
        expect(sheet.includes(VALID)).toBe(filter === undefined);
      }
    },
  },
  {
    name: "a child job verifies invalid rows again and corrects a mistyped domain",
    take: async (journey) => {
      const { ask, found } = journey;
      const path = { id: found.job };
      const again = async (body: object, expected: object) => {
        const route = "POST /v1/jobs/{id}/again";
        const answer = await ask(route, { path, body, idempotencyKey: createKey() });
        expectAnswer(answer, 202, { parent_job_id: path.id, ...expected });
        return whenJobEnded(journey, answer.data.job_id);
      };
      const nobody = { filter: "status:invalid", q: "nobody" };
      expect(await again(nobody, { rows: 1, credits_used: 1 })).toMatchObject({
        progress: { invalid: 1 },
      });
      journey.moves.push("charge 1 verify_file");
      // The list has the corrected address already, so its row is free.
      const correct = { domain: `vaild.${LAB}`, meant: `valid.${LAB}` };
      await again({ correct }, { rows: 0, duplicates: 1, credits_used: 0 });
      const { data } = await poll("the results in the first job", async () => {
        const answer = await ask("GET /v1/jobs/{id}", { path, query: { columns: "true" } });
        return answer.data.progress.valid === 2 ? answer : undefined;
      });
      expect(data.results.at(-1)).toMatchObject({
        email: VALID,
        cells: ["Typo", `ada.lovelace@vaild.${LAB}`, "blue"],
      });
    },
  },
];

const others: readonly Step[] = [
  {
    name: "a search finds a person's address by name for five credits, and its repeat costs nothing",
    take: async (journey) => {
      const body = { first_name: "Lucas", last_name: "O’Neill", domain: `f001.firms.${LAB}` };
      const find = () => journey.ask("POST /v1/find", { body });
      const result = { email: `lucas.oneill@f001.firms.${LAB}`, status: "valid", verified: true };
      expectAnswer(await find(), 200, { ...result, credits_used: 5 });
      pay(journey, 5, "find");
      // Two minutes are counted by the clock: a repeat may be the first search of the next two.
      await poll("a repeat in the same two minutes", async () => {
        const repeat = await find();
        expectAnswer(repeat, 200, result);
        if (repeat.data.idempotent_replay) return repeat;
        pay(journey, 5, "find");
        return undefined;
      });
    },
  },
  {
    name: "a check grades a sound domain A, and its repeat within the day costs nothing",
    take: async (journey) => {
      const { sendingIp = SENDING_IP } = journey.artefact;
      const body = { domain: `good.senders.${LAB}`, sending_ip: sendingIp };
      const check = () =>
        journey.ask("POST /v1/deliverability/check", { body, idempotencyKey: createKey() });
      const first = await check();
      expectAnswer(first, 200, { grade: "A", cached: false, credits_used: 10 });
      pay(journey, 10, "deliverability_check");
      expectAnswer(await check(), 200, { grade: "A", cached: true, credits_used: 0 });
      const path = { id: first.data.check_id as string };
      const stored = await journey.ask("GET /v1/deliverability/checks/{id}", { path });
      expectAnswer(stored, 200, { check_id: path.id, grade: "A" });
    },
  },
  {
    name: "the service reads a DMARC report once and adds its sums to the domain's reports and progress",
    take: async ({ ask }) => {
      const domain = `good.senders.${LAB}`;
      const record = createRecord({ ip: SENDING_IP, count: 7, from: domain });
      const begin = dayBefore(2);
      const report = { domain, begin, end: begin + 86_399, records: [record] };
      const upload = () =>
        ask("POST /v1/deliverability/reports", {
          body: createForm({}, "report.xml", createDmarcReport(report)),
        });
      expectAnswer(await upload(), 201, { type: "dmarc", messages: 7, duplicate: false });
      expectAnswer(await upload(), 200, { type: "dmarc", messages: 7, duplicate: true });
      const path = { domain };
      const reports = await ask("GET /v1/deliverability/domains/{domain}/reports", { path });
      expectAnswer(reports, 200, { dmarc: { reports: 1, messages: 7, aligned: 7 } });
      const progress = await ask("GET /v1/deliverability/domains/{domain}", { path });
      expectAnswer(progress, 200, { dmarc: { policy: "reject", messages: 7 } });
    },
  },
  {
    name: "the service receives and assesses a test mail",
    needs: "deliverMail",
    take: async ({ ask, artefact: { capabilities }, moves }) => {
      const created = await ask("POST /v1/deliverability/tests", { idempotencyKey: createKey() });
      expectAnswer(created, 201, { status: "waiting", credits_used: 2 });
      moves.push("charge 2 mail_test");
      const { test_id: id, address: to } = created.data;
      const from = `news@good.senders.${LAB}`;
      const date = new Date().toUTCString().replace("GMT", "+0000");
      const head = `From: Shop <${from}>\r\nTo: <${to}>\r\nSubject: A journey\r\nDate: ${date}\r\n`;
      const message = `${head}Message-ID: <journey@good.senders.${LAB}>\r\n\r\nHello.\r\n`;
      await capabilities.deliverMail?.({ from, to, message });
      const test = await poll("the assessment of the mail", async () => {
        const { data } = await ask("GET /v1/deliverability/tests/{id}", { path: { id } });
        return ["waiting", "assessing"].includes(data.status) ? undefined : data;
      });
      expect(test).toMatchObject({
        status: "received",
        from_domain: `good.senders.${LAB}`,
        report: { header: { subject: "A journey" } },
      });
    },
  },
  {
    name: "a webhook receives a completed job with a signature that two foreign libraries accept",
    needs: "hooks",
    take: async ({ ask, moves, artefact: { capabilities } }) => {
      const { url, received } = capabilities.hooks as Hooks;
      const subscription = { url, events: ["job.completed"] };
      const created = await ask("POST /v1/webhooks", { body: subscription });
      expectAnswer(created, 201, subscription);
      const { data: hook } = created;
      const path = { id: hook.id as string };
      const tested = await ask("POST /v1/webhooks/{id}/test", { path });
      expectAnswer(tested, 200, { delivered: true, delivery: { response_status: 200 } });

      const body = { emails: [`grace.hopper@valid.${LAB}`] };
      const idempotencyKey = createKey();
      const { data: job } = await ask("POST /v1/verify/batch", { body, idempotencyKey });
      moves.push("charge 1 verify_batch");
      const call = await poll("the call of the webhook", async () =>
        received.find((one) => one.body.includes(job.job_id)),
      );
      for (const library of [Webhook, SvixWebhook]) {
        const webhook = new library(hook.secret);
        expect(() => webhook.verify(call.body, call.headers)).not.toThrow();
        expect(() => webhook.verify(`${call.body} `, call.headers)).toThrow(/signature/i);
      }
      const event = { type: "job.completed", data: { job_id: job.job_id } };
      expect(JSON.parse(call.body)).toMatchObject(event);
      expectAnswer(await ask("DELETE /v1/webhooks/{id}", { path }), 200, { deleted: true });
    },
  },
  {
    name: "a public key verifies a visitor only from its page's origin and returns a signed receipt",
    take: async (journey) => {
      const { ask } = journey;
      const key = { name: "a page", mode: "live", public: { origins: [PAGE], daily_limit: 10 } };
      const { data: created } = await ask("POST /v1/api-keys", { body: key });
      const visit = (origin: string) =>
        ask("POST /v1/verify/form", {
          key: created.key,
          body: { email: `ben.gomez@valid.${LAB}` },
          headers: { origin },
          idempotencyKey: createKey(),
        });
      expect((await visit("https://other.example")).status).toBe(403);
      const answer = await visit(PAGE);
      expectAnswer(answer, 200, { class: "go", credits_used: 1 });
      // The page is answered first; its job then asks the mail server.
      expect(await whenJobEnded(journey, answer.data.job_id)).toMatchObject({
        status: "completed",
        progress: { valid: 1 },
      });
      pay(journey, 1, "verify");
      const claims = await readReceipt(journey, answer.data.receipt);
      expect(claims).toMatchObject({ class: "go", origin: PAGE, credits: 1 });
      const path = { id: created.key_id as string };
      expectAnswer(await ask("DELETE /v1/api-keys/{id}", { path }), 200, { revoked: true });
      expect((await visit(PAGE)).status).toBe(401);
    },
  },
  {
    name: "an agent reads the account and pays for a verdict by MCP",
    take: async (journey) => {
      const account = await callTool(journey, "get_account", {});
      expect(account).toMatchObject({ credits: { held: 0 } });
      const args = { email: `alan.turing@valid.${LAB}`, idempotency_key: createKey() };
      const verified = await callTool(journey, "verify_email", args);
      expect(verified).toMatchObject({ status: "valid", credits_used: 1 });
      pay(journey, 1, "verify");
      const after = await callTool(journey, "get_account", {});
      expect(after.credits.available).toBe(account.credits.available - 1);
    },
  },
  {
    name: "the server sends the manual and the dashboard with their scripts and styles",
    needs: "pages",
    take: async ({ artefact: { baseUrl } }) => {
      const read = async (url: string | URL) => {
        const response = await fetch(url);
        const text = await response.text();
        const { status } = response;
        expect({ url, status, isEmpty: text === "" }).toEqual({ url, status: 200, isEmpty: false });
        return text;
      };
      expect(await read(`${baseUrl}/docs`)).toContain("Mailproof");
      expect(await read(`${baseUrl}/docs/clients.md`)).toContain(`${baseUrl}/docs/clients/`);
      const page = await read(`${baseUrl}/app/`);
      const assets = [...page.matchAll(/(?:src|href)="([^"#:]+\.(?:js|css))"/g)];
      expect(assets.length).toBeGreaterThan(1);
      for (const [, asset = ""] of assets) await read(new URL(asset, `${baseUrl}/app/`));
    },
  },
];

/** Each charge of the journey has its line, and no line is one too many. */
const money: readonly Step[] = [
  {
    name: "the ledger lists each charge of the journey once, and account and usage state their sum",
    take: async ({ ask, moves, found }) => {
      const entries: any[] = [];
      for (let offset: string | undefined; ; ) {
        const query = { limit: "100", ...(offset !== undefined && { offset }) };
        const { data } = await ask("GET /v1/account/ledger", { query });
        entries.push(...data.entries);
        offset = data.next_offset;
        if (!data.has_more) break;
      }
      const lines = entries
        .filter(({ type }) => type !== "grant")
        .map(({ type, credits, operation, reason }) =>
          [type, credits, operation, reason].filter((one) => one !== undefined).join(" "),
        );
      expect(lines.toSorted()).toEqual(moves.toSorted());

      const sum = (of: readonly string[]) =>
        moves
          .map((move) => move.split(" "))
          .filter(([type = ""]) => of.includes(type))
          .reduce((total, [, credits]) => total + Number(credits), 0);
      const used = sum(["hold", "charge"]);
      const refunded = sum(["release", "refund"]);
      const { data: account } = await ask("GET /v1/account");
      const available = found.opening - used + refunded;
      const spent = used - refunded;
      expect(account.credits).toMatchObject({ available, held: 0, used, spent, refunded });
      const { data: usage } = await ask("GET /v1/account/usage");
      expect(usage.totals).toMatchObject({ credits_used: used, credits_refunded: refunded });
    },
  },
  {
    name: "admin backup writes a backup beside the running service",
    needs: "backupFolder",
    take: async ({ artefact: { capabilities } }) => {
      const folder = capabilities.backupFolder as string;
      const made = await capabilities.admin?.("backup", "--to", folder);
      expect(made).toMatchObject({ folder, files: expect.any(Number) });
    },
  },
  {
    name: "admin audit finds no broken invariant",
    needs: "admin",
    take: async ({ artefact: { capabilities } }) => {
      expect(await capabilities.admin?.("audit")).toMatchObject({ ok: true, violations: [] });
    },
  },
];

/** In their order. */
const STEPS: readonly Step[] = [...verifying, ...lists, ...others, ...money];

/** Whether the artefact has what the step is about. */
const isTaken = ({ needs }: Step, capabilities: Capabilities): boolean =>
  needs === undefined || Boolean(capabilities[needs]);

/** One test for each step, in their order. `start` is asked for once, before the first. */
export const describeJourney = (name: string, start: () => Promise<Artefact>): void => {
  describe(`the journey through ${name}`, () => {
    let journey: Journey;
    beforeAll(async () => {
      journey = await startJourney(await start());
    });
    for (const step of STEPS)
      test(`${step.name}`, async ({ skip }) => {
        if (!isTaken(step, journey.artefact.capabilities)) skip(`it has no ${step.needs}`);
        await expect(step.take(journey)).resolves.toBeUndefined();
      });
  });
};

import { HERE_PATH } from "@mailproof/api/http/documents";
import { toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import type { Status } from "@mailproof/core/verify/result";
import type { Guide } from "./guide.ts";
import { block, code, html, inLanguages, inline, table } from "./html.ts";
import { decision } from "./pictures.ts";

const call = (route: string, request?: unknown, path = {}, query = {}) => ({
  route,
  path,
  query,
  ...(request !== undefined && { request }),
});

const VERIFY = call("POST /v1/verify", { email: "ada.lovelace@example.com" });
const BATCH = call("POST /v1/verify/batch", {
  emails: ["ada.lovelace@example.com", "invalid@example.com", "info@example.com"],
  name: "Newsletter, November",
});

export const quickStart: Guide = {
  id: "quick-start",
  title: "Quick start",
  summary: "A key, a first verification and a first list, in three requests.",
  write: (baseUrl, snippets) => html`
<p class="lead">Three requests, all free: a test key gets simulated results, the same each time.</p>
<h3>1. Have a key</h3>
<p>Your test key begins with <code>mp_test_</code>. On your own machine <code>npm start</code> prints one. Send it in the header <code>X-Api-Key</code>, or as a bearer token.</p>
${block("export MAILPROOF_KEY=mp_test_…", "shell")}
<h3>2. Verify one address</h3>
${inLanguages(snippets(baseUrl, VERIFY))}
<p>Read <code>data.status</code>: <code>valid</code> is safe to send to; see <a href="#statuses">the other statuses</a>. Use <code>invalid@example.com</code> to see one of them; there is a <a href="#test-addresses">test address</a> for every result.</p>
<h3>3. Verify a list</h3>
<p>Send up to 10,000 addresses in one request; the response is a job.</p>
${inLanguages(snippets(baseUrl, BATCH))}
<p>Take the <code>job_id</code> from the response and read the job until its <code>status</code> is <code>completed</code>:</p>
${block(`curl -s ${baseUrl}/v1/jobs/$JOB_ID -H "X-Api-Key: $MAILPROOF_KEY"\n\ncurl -s ${baseUrl}/v1/jobs/$JOB_ID/download -H "X-Api-Key: $MAILPROOF_KEY" -o results.csv`, "shell")}
<div class="note"><p>This reference is also available as <a href="${HERE_PATH}/openapi.json">openapi.json</a>, for client generators.</p></div>`,
};

type Meaning = { readonly means: string; readonly remedy: string };

const MEANINGS: Readonly<Record<Status, Meaning>> = {
  valid: { means: "The mailbox exists.", remedy: "Send." },
  invalid: { means: "Mail to it will bounce.", remedy: "Remove it." },
  risky: {
    means:
      "The host accepts the mail, but there is a risk: the mailbox is full, the domain is a typo domain, or the acceptance proves little.",
    remedy: "Send only if a bounce is acceptable.",
  },
  catch_all: {
    means:
      "The domain accepts mail for every name, so it is not known whether this mailbox exists.",
    remedy: "Use `ai.catch_all_confidence`, the probability that it exists.",
  },
  role: {
    means: "It belongs to a role such as info or sales, and several people read it.",
    remedy: "No newsletters.",
  },
  disposable: {
    means: "A disposable address.",
    remedy: "Refuse it at sign-up.",
  },
  spam_trap: {
    means: "A spam trap: it exists to detect senders without consent.",
    remedy: "Remove it and check how it was collected.",
  },
  unknown: {
    means:
      "No result: the server did not respond, deferred us, or refuses us. This is not evidence about the mailbox.",
    remedy: "Keep it, and verify it again tomorrow.",
  },
};

export const statuses: Guide = {
  id: "statuses",
  title: "Statuses",
  summary: "What each status of an address means, and what to do with it.",
  write: () => html`
<p class="lead">A result has a status, a <code>reason</code> code, a <code>quality_score</code> from 0 to 100 and, on request, the evidence.</p>
<div class="beside"><div>
${table(
  ["Status", "Means", "What to do"],
  Object.entries(MEANINGS).map(([status, { means, remedy }]) => [
    html`<span class="status is-${status}">${status}</span>`,
    html`${means}`,
    inline(remedy),
  ]),
)}
<p><strong>Our own failure never becomes your “invalid”.</strong> A closed port, a blocklisted sender, a deferral, or DNS that does not answer gives <code>unknown</code> with its reason.</p>
<p>With <code>options.include_evidence</code> a result includes the DNS answers, the SMTP replies with their timings, and the score as a sum of named parts.</p>
</div>${decision()}</div>`,
};

/** The service recognises a test address by the first word of its local part, or the first label of its domain. A test sends each address. */
export const TEST_ADDRESSES: readonly (readonly [
  email: string,
  status: string,
  reason: string,
  plays: string,
])[] = [
  ["valid@example.com", "valid", "accepted", "a mailbox that exists; so does any other word"],
  ["invalid@example.com", "invalid", "mailbox_not_found", "a mailbox that does not exist"],
  ["disabled@example.com", "invalid", "mailbox_disabled", "a disabled mailbox"],
  ["full@example.com", "risky", "mailbox_full", "a full mailbox"],
  ["catch_all@example.com", "catch_all", "catch_all", "a server that accepts every address"],
  ["risky@example.com", "risky", "catch_all_unverified", "a server that may accept every address"],
  ["unknown@example.com", "pending", "-", "a server that does not answer: the job ends unknown"],
  ["greylisted@example.com", "pending", "-", "a server that greylists: the job ends valid"],
  ["throttled@example.com", "pending", "-", "a server that throttles us: the job ends valid"],
  ["blocked@example.com", "unknown", "ip_blocked", "a server that refuses us"],
  ["spam_trap@example.com", "spam_trap", "listed_spam_trap", "an address on a list of traps"],
  ["info@example.com", "role", "role_account", "a role address, as for a live key"],
  ["ann@disposable.example.com", "disposable", "listed_disposable", "a throw-away domain"],
  ["ann@nxdomain.com", "invalid", "domain_not_found", "a domain that does not exist"],
  ["ann@nullmx.com", "invalid", "null_mx", "a domain that does not receive mail"],
  ["ann@dnsfail.com", "pending", "-", "a domain that could not be looked up: the job ends unknown"],
  ["no address", "invalid", "syntax.no_at", "text that is not an address"],
  ["slow@example.com", "pending", "-", "no reply for half a minute: read the job"],
  ["error@example.com", "500", "-", "our own failure; a live key would have been refunded"],
];

export const testAddresses: Guide = {
  id: "test-addresses",
  title: "Test keys and addresses",
  summary: "Keys that cost nothing, and an address for every result.",
  write: () => html`
<p class="lead">A key that starts with <code>mp_test_</code> works like a live one: the same checks, limits, jobs and Idempotency-Keys. Only the mail system is simulated, and nothing is charged.</p>
${table(
  ["Try", "Comes to", "Reason", "Plays"],
  TEST_ADDRESSES.map(([email, status, reason, plays]) => [
    code(email),
    html`<span class="status is-${status}">${status}</span>`,
    code(reason),
    html`${plays}`,
  ]),
)}
<p>The first word decides, so <code>invalid+7@your-company.com</code> gives the same as <code>invalid@example.com</code>. <code>POST /v1/find</code> uses the first name in the same way, and a domain check the first label: <code>nospf.example</code>, <code>nodkim.example</code>, <code>nodmarc.example</code>, <code>weak.example</code>, <code>listed.example</code>, <code>dnsfail.example</code>.</p>
<p>A <code>control</code> whose token is <code>test-controlled</code> proves control of any address; with any other token it is <code>malformed</code>.</p>
<p>Only the account's test keys see the job of a test key; a live key gets 404.</p>`,
};

export const prices: Guide = {
  id: "prices",
  title: "Pricing",
  summary: "What each operation costs in credits.",
  write: () => html`
${table(
  ["What", "Credits"],
  [
    ["Verify an address", PRICES.verify],
    ["… that you verified within 24 hours", PRICES.verifyCached],
    ["… that the visitor proves control of", PRICES.verifyControlled],
    ["Each different address of a batch or a file", PRICES.batchAddress],
    ["Find a person's address; the same search within two minutes is free", PRICES.find],
    ["Check a domain; the same check within 24 hours is free", PRICES.deliverabilityCheck],
  ].map(([what, price]) => [html`${what ?? ""}`, html`${toCredits(price as typeof PRICES.find)}`]),
)}
<p>Everything else is free: jobs, results, exports, activity, history, webhooks. <a href="#getUsage"><code>GET /v1/account/usage</code></a> has your usage by day, operation and verdict, <a href="#listLedgerEntries"><code>GET /v1/account/ledger</code></a> every movement of your credits.</p>`,
};

export const jobs: Guide = {
  id: "jobs-and-files",
  title: "Jobs and files",
  summary: "Batches and files: how to send them, wait for them and read their results.",
  write: (baseUrl) => html`
<p class="lead">Longer work runs as a job: a batch, a file, or one address with a slow mail server.</p>
<h3>A file in two steps</h3>
<p>Request an upload URL, PUT the file unchanged, then process it. Up to 50 MB and 500,000 addresses. With <code>file_size</code>, its size in bytes, the URL accepts only a file of that size, so a broken upload is refused. The CSV export has your own columns, unchanged, and the result columns.</p>
<p>In the response to <code>process</code>, <code>file</code> has the detected column, header, encoding and delimiter, and the first rows without an address. An export with <code>selection=all</code> has every row of the file: a duplicate names the row it repeats, a skipped row the reason. While the job runs, <code>X-Export-Complete</code> is <code>false</code> and <code>X-Export-Pending-Rows</code> counts the addresses without a result.</p>
${block(
  `curl -s ${baseUrl}/v1/verify/file -H "X-Api-Key: $MAILPROOF_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"action": "get_upload_url", "file_name": "customers.csv"}'

curl -s -T customers.csv "$UPLOAD_URL"

curl -s ${baseUrl}/v1/verify/file -H "X-Api-Key: $MAILPROOF_KEY" \\
  -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: customers-2026-11" \\
  -d '{"action": "process", "file_key": "'"$FILE_KEY"'"}'`,
  "shell",
)}
<p>Send a small file in one request:</p>
${block(`curl -s ${baseUrl}/v1/verify/file -H "X-Api-Key: $MAILPROOF_KEY" -F file=@customers.csv`, "shell")}
<h3>Following and reading</h3>
<ul>
<li>Poll <code>progress</code> every few seconds, or use a <a href="#webhooks">webhook</a>.</li>
<li>Results come in pages of up to 1,000: send <code>next_key</code> until a response has none. Each row is returned exactly once. While the job runs every page has a <code>next_key</code>, and a short page means that the other rows are not ready: wait a few seconds and send its <code>next_key</code>.</li>
<li>Results of a finished job keep the order of your list. While the job runs, rows are returned as they become ready; <code>row</code> is the number in the list. Exports always keep the order of the list.</li>
<li>Export with <code>format=csv</code> or <code>json</code>, and <code>filter=valid</code> for valid addresses only. In a JSON export check <code>complete</code> first.</li>
<li>An address whose DNS fails, or whose server greylists, is busy, silent or throttles us, is retried after some minutes. Until then the job's <code>deferred</code> has the number of waiting addresses, their reasons and the time of the next attempt; all other rows have their results. <code>options.max_wait_minutes</code> (0 to 1440, default 40) limits the wait: addresses without a result by then become <code>unknown</code> with their reason, and the job completes.</li>
<li>A job of state <code>enqueue_unknown</code> has addresses of which it is not known yet whether they are queued. Their credits are held until then.</li>
</ul>`,
};

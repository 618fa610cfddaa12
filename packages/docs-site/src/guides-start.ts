import { PRICE, toCredits } from "@mailproof/core/money/credits";
import type { Status } from "@mailproof/core/verify/result";
import type { Guide } from "./guide.ts";
import { block, code, html, inLanguages, inline, table } from "./html.ts";
import { decision } from "./pictures.ts";
import { withClient } from "./programs.ts";
import { snippetsFor } from "./snippets.ts";

// What somebody needs in the first ten minutes.

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
  write: (baseUrl) => html`
<p class="lead">Three requests, and none of them costs anything: a test key gets made-up answers, the same each time.</p>
<h3>1. Have a key</h3>
<p>Your test key begins with <code>mp_test_</code>. On your own machine <code>npm start</code> prints one. Send it in the header <code>X-Api-Key</code>, or as a bearer token.</p>
${block("export MAILPROOF_KEY=mp_test_…", "shell")}
<h3>2. Verify one address</h3>
${inLanguages(snippetsFor(baseUrl, VERIFY))}
<p>Look at <code>data.status</code>: <code>valid</code> is safe to write to, and <a href="#statuses">every other status</a> says why not. Write <code>invalid@example.com</code> in its place to see one; <a href="#test-addresses">more of these</a> play every situation.</p>
<h3>3. Verify a list</h3>
<p>Up to 10,000 addresses go in one request and come back as a job.</p>
${inLanguages(snippetsFor(baseUrl, BATCH))}
<p>Take the <code>job_id</code> from the answer and read the job until its <code>status</code> is <code>completed</code>:</p>
${block(`curl -s ${baseUrl}/v1/jobs/$JOB_ID -H "X-Api-Key: $MAILPROOF_KEY"\n\ncurl -s ${baseUrl}/v1/jobs/$JOB_ID/download -H "X-Api-Key: $MAILPROOF_KEY" -o results.csv`, "shell")}
<div class="note"><p>All that is on this page stands in <a href="/openapi.json">openapi.json</a>, too: any generator makes a typed client of it.</p></div>`,
};

type Meaning = { readonly means: string; readonly remedy: string };

const MEANINGS: Readonly<Record<Status, Meaning>> = {
  valid: { means: "The mailbox is there.", remedy: "Send." },
  invalid: { means: "Mail to it will bounce.", remedy: "Remove it." },
  risky: {
    means:
      "The host takes the mail, but something speaks against it: the mailbox is full, the domain lives from typos, or the acceptance proves little.",
    remedy: "Send only what is worth a bounce.",
  },
  catch_all: {
    means:
      "The host takes mail for every name, so nobody can tell from outside whether this one exists.",
    remedy: "`ai.catch_all_confidence` says how likely it does.",
  },
  role: {
    means: "It belongs to a role such as info or sales, and several people read it.",
    remedy: "No newsletters.",
  },
  disposable: {
    means: "An address that is thrown away after use.",
    remedy: "Refuse it at sign-up.",
  },
  spam_trap: {
    means: "Kept by somebody who looks for senders without consent.",
    remedy: "Remove it, and ask where it came from.",
  },
  unknown: {
    means:
      "It could not be found out: the server did not answer, put us off, or refuses us. It says nothing about the mailbox.",
    remedy: "Keep it, and verify it again tomorrow.",
  },
};

export const statuses: Guide = {
  id: "statuses",
  title: "What a status means",
  write: () => html`
<p class="lead">One word to act on, a <code>reason</code> for programs, a <code>quality_score</code> from 0 to 100, and on request the evidence.</p>
<div class="beside"><div>
${table(
  ["Status", "Means", "What to do"],
  Object.entries(MEANINGS).map(([status, { means, remedy }]) => [
    html`<span class="status is-${status}">${status}</span>`,
    html`${means}`,
    inline(remedy),
  ]),
)}
<p><strong>What went wrong on our side never becomes your “invalid”.</strong> A closed port, a blocklisted sender, a server that asks to come later, DNS that does not answer: each is <code>unknown</code> with its reason.</p>
<p>With <code>options.include_evidence</code> a result carries what led to it: the DNS answers, the words of the mail server with their timings, and the score as a sum of named parts.</p>
</div>${decision()}</div>`,
};

/** By the word that the local part begins with, or the first label of the domain. A test sends each of them. */
export const TEST_ADDRESSES: readonly (readonly [
  email: string,
  status: string,
  reason: string,
  plays: string,
])[] = [
  ["valid@example.com", "valid", "accepted", "a mailbox that is there; so is any other word"],
  ["invalid@example.com", "invalid", "mailbox_not_found", "a mailbox that is not"],
  ["disabled@example.com", "invalid", "mailbox_disabled", "one that was switched off"],
  ["full@example.com", "risky", "mailbox_full", "one that takes no more"],
  ["catch_all@example.com", "catch_all", "catch_all", "a server that accepts everybody"],
  [
    "risky@example.com",
    "risky",
    "catch_all_unverified",
    "a server that will not show whether it does",
  ],
  ["unknown@example.com", "pending", "-", "a server that does not answer: the job ends unknown"],
  ["greylisted@example.com", "pending", "-", "a server that greylists: the job ends valid"],
  ["blocked@example.com", "unknown", "ip_blocked", "a server that refuses us"],
  ["spam_trap@example.com", "spam_trap", "listed_spam_trap", "an address on a list of traps"],
  ["info@example.com", "role", "role_account", "a role, as for a live key"],
  ["ann@disposable.example.com", "disposable", "listed_disposable", "a throw-away domain"],
  ["ann@nxdomain.com", "invalid", "domain_not_found", "a domain that does not exist"],
  ["ann@nullmx.com", "invalid", "null_mx", "a domain that takes no mail"],
  ["ann@dnsfail.com", "pending", "-", "a domain that could not be looked up: the job ends unknown"],
  ["no address", "invalid", "syntax.no_at", "what is no address"],
  ["slow@example.com", "pending", "-", "half a minute without an answer: read the job"],
  ["error@example.com", "500", "-", "our own failure; a live key would have been refunded"],
];

export const testAddresses: Guide = {
  id: "test-addresses",
  title: "Test keys and addresses",
  write: () => html`
<p class="lead">A key that begins with <code>mp_test_</code> takes the same way as a live one: the same checks, limits, jobs and Idempotency-Keys. Only the mail system is made up, and nothing is charged.</p>
${table(
  ["Try", "Comes to", "Reason", "Plays"],
  TEST_ADDRESSES.map(([email, status, reason, plays]) => [
    code(email),
    html`<span class="status is-${status}">${status}</span>`,
    code(reason),
    html`${plays}`,
  ]),
)}
<p>The word at the beginning decides, so <code>invalid+7@your-company.com</code> is as <code>invalid@example.com</code>. <code>POST /v1/find</code> goes by the first name in the same way, and a check of a domain by its first label: <code>nospf.example</code>, <code>nodkim.example</code>, <code>nodmarc.example</code>, <code>weak.example</code>, <code>listed.example</code>, <code>dnsfail.example</code>.</p>
<p>A job of a test key is seen by the account's test keys alone, and a live key gets 404 for it.</p>`,
};

export const libraries: Guide = {
  id: "libraries-and-agents",
  title: "Libraries and agents",
  write: (baseUrl) => html`
<p class="lead">Plain HTTP is enough. What saves you work:</p>
<h3>TypeScript and JavaScript</h3>
<p><code>@mailproof/client</code> has no dependencies and runs in Node, Deno, Bun and browsers. It sends every paid call under an Idempotency-Key of its own and repeats what may be repeated, so whatever is lost on the way is paid for once.</p>
${block(withClient(baseUrl), "TypeScript")}
<h3>Any other language</h3>
<p><a href="/openapi.json">openapi.json</a> is an OpenAPI 3.1 document with a name for every operation and every shape. <code>openapi-typescript</code> wants <code>--default-non-nullable=false</code>, or it takes fields with a default for required ones.</p>
<h3>Agents</h3>
<p>Every operation is also a tool of the Model Context Protocol, with the same keys, scopes, prices and repeats. Connect with a key as a bearer token:</p>
${block(`${baseUrl}/mcp`, "shell")}`,
};

export const prices: Guide = {
  id: "prices",
  title: "What it costs",
  write: () => html`
${table(
  ["What", "Credits"],
  [
    ["Verify an address", PRICE.verify],
    ["… that you verified within 24 hours", PRICE.verifyCached],
    ["Each different address of a batch or a file", PRICE.batchAddress],
    ["Find a person's address; the same search within two minutes is free", PRICE.find],
    ["Check a domain; the same check within 24 hours is free", PRICE.deliverabilityCheck],
  ].map(([what, price]) => [html`${what ?? ""}`, html`${toCredits(price as typeof PRICE.find)}`]),
)}
<p>Everything else is free: jobs, results, exports, activity, history, webhooks. What you used stands day by day in <a href="#getUsage"><code>GET /v1/account/usage</code></a>.</p>`,
};

export const jobs: Guide = {
  id: "jobs-and-files",
  title: "Jobs and files",
  write: (baseUrl) => html`
<p class="lead">What takes longer than a request is a job: a batch, a file, or one address whose server is slow.</p>
<h3>A file in two steps</h3>
<p>Ask where to put it, put it there unchanged, then process it. Up to 50 MB and 500,000 addresses; your own columns come back as they were, beside ours, in the CSV export.</p>
<p>The answer to <code>process</code> says in <code>file</code> which column, header, encoding and delimiter it found, and shows the first rows without an address. An export with <code>rows=all</code> has every row of the file: a duplicate names the row it repeats, a skipped row says why. While the job goes on, <code>X-Export-Complete</code> is <code>false</code> and <code>X-Export-Pending-Rows</code> counts the addresses without a result.</p>
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
<p>A small file goes in one request:</p>
${block(`curl -s ${baseUrl}/v1/verify/file -H "X-Api-Key: $MAILPROOF_KEY" -F file=@customers.csv`, "shell")}
<h3>Following and reading</h3>
<ul>
<li><code>progress</code> counts while it goes on. Asking every few seconds is fine; a <a href="#webhooks">webhook</a> tells you at once.</li>
<li>Results come in pages of up to 1,000: send <code>next_key</code> until a response has none. Each row comes exactly once, also while the job runs: then every page has a <code>next_key</code>, and one with fewer rows than the limit means that the others are not ready yet. Wait a few seconds and send its <code>next_key</code>.</li>
<li>Results of a finished job keep the order of your list. A reader that began earlier gets rows in the order in which they become ready; <code>row</code> tells the place in the list. Exports always keep the order of the list.</li>
<li>The export has it all: <code>format=csv</code> or <code>json</code>, and <code>filter=valid</code> for what to keep. Of a JSON export look at <code>complete</code> first.</li>
<li>An address whose DNS fails, or whose server greylists, is busy or silent, is attempted again after some minutes. Until then the job's <code>deferred</code> says how many addresses wait, for which reasons, and when the next attempt is; all other rows have their results. <code>options.max_wait_minutes</code> (0 to 60, default 40) ends the waiting earlier: what is still unknown by then stays <code>unknown</code> with its reason, and the job completes.</li>
<li>A job of state <code>enqueue_unknown</code> has addresses of which we do not know yet whether they are queued. Their credits are held until we do.</li>
</ul>`,
};

import { KEYED_ERRORS } from "@mailproof/api/http/endpoint";
import { LOOK_UP_ROUTES, STATUS } from "@mailproof/api/http/http-failure";
import { ERRORS, type ErrorPage, errorExample } from "@mailproof/api/openapi/errors";
import { type FailureCode, getMoneySentence, type MoneyOutcome } from "@mailproof/core/lib/failure";
import { PLAN_IDS, PLANS } from "@mailproof/core/money/plans";
import type { Guide } from "./guide.ts";
import { block, code, type Html, html, inLanguages, inline, table } from "./html.ts";
import { repeats } from "./pictures.ts";
import { retrying } from "./programs.ts";

const REMEDIES: readonly (readonly [money: MoneyOutcome, then: string])[] = [
  ["nothing_charged", "Repeat the request at any time."],
  ["nothing_more", "Use a new key to send it again, which is charged."],
  ["refunded", "Repeat the request at any time. The charge was reversed."],
  [
    "retry_same_key",
    "Correct what the message names and repeat the request with the same key. An earlier request with this key may have been charged: the service refused this one before looking up the key. With another key it is a new request.",
  ],
  ["repeat_search", "Repeat the search within two minutes; it is not charged twice."],
  ["unknown", "Check first whether the work was done."],
  ["kept", "Contact support with the `request_id`."],
];

export const errors: Guide = {
  id: "errors",
  title: "Errors and money",
  summary: "Every error code, and what happened to the credits.",
  write: (baseUrl) => html`
<p class="lead">Every failure states what happened to the money.</p>
${block(JSON.stringify(errorExample(ERRORS.INSUFFICIENT_CREDITS, baseUrl), null, 2), "json")}
<p><code>error.code</code> is for programs, <code>error.message</code> for people, and <code>error.money</code> states what happened to the money. <code>details</code> names the fields, the scope or the rows; <code>retryable</code> is present when the same request may succeed later; <code>request_id</code> identifies the request for support; <code>doc_url</code> leads to the paragraph below about the code.</p>
<h3>What became of the money</h3>
${table(
  ["Money", "The message ends with", "What to do"],
  REMEDIES.map(([money, then]) => [
    code(money),
    html`${getMoneySentence(money, LOOK_UP_ROUTES.listJobs)}`,
    inline(then),
  ]),
)}
<h3>The codes</h3>
<p>Every operation with a key has ${KEYED_ERRORS.map((one, at) => html`${at > 0 ? ", " : ""}<a href="#${one}">${one}</a>`)}; each operation names its others.</p>
${Object.entries(ERRORS).map(([name, page]) => codePart(name as FailureCode, page))}`,
};

const codePart = (name: FailureCode, { means, money, remedy }: ErrorPage): Html => html`
<h4 id="${name}"><code>${name}</code> ${STATUS[name]}</h4>
<p>${inline(means)} ${money.map((one, at) => html`${at > 0 ? " Or " : ""}<code>${one}</code>: ${getMoneySentence(one, LOOK_UP_ROUTES.listJobs)}`)} ${inline(remedy)}</p>`;

export const idempotency: Guide = {
  id: "idempotency",
  title: "Paying once: Idempotency-Key",
  summary: "How a request is charged once, however often it is sent.",
  write: (baseUrl) => html`
<p class="lead">Networks lose responses. A request with an <code>Idempotency-Key</code> can be repeated any number of times: it is executed and charged once.</p>
<div class="beside"><div>
<ul>
<li>The key is yours: 1 to 255 printable ASCII characters without spaces. A UUID works; your order number is better.</li>
<li>It belongs to your account and to this operation, for 30 days. Live and test keys have separate Idempotency-Keys.</li>
<li>The same request with the same key returns the first response, with <code>idempotent_replay: true</code> and <code>credits_used: 0</code>.</li>
<li>A different request with the same key is 409 <code>IDEMPOTENCY_KEY_CONFLICT</code>, before any charge. A field left out is the same as its default.</li>
<li>While the first is in progress a repeat is 409 <code>REQUEST_IN_PROGRESS</code> with <code>Retry-After</code>. A file returns 202 with <code>dispatch_in_progress</code>.</li>
<li>A request that was refused before the charge, such as a 400 or 402, does not use up the key. Correct it and use the same key.</li>
<li>A refund frees the key: the next request with it is charged again.</li>
</ul>
<p>Accepted by <a href="#verifyEmail">verify</a>, <a href="#verifyBatch">batch</a>, <a href="#verifyFile">file</a> and <a href="#checkDomain">check</a>. A <a href="#findEmail">search</a> needs none: repeating it within two minutes is not charged.</p>
</div>${repeats()}</div>
${inLanguages(retrying(baseUrl))}`,
};

export const rateLimits: Guide = {
  id: "rate-limits",
  title: "Rate limits",
  summary: "Requests per minute by plan, and the headers that report them.",
  write: () => html`
<p class="lead">Requests per minute, for each key and for all keys of the account. A batch of 10,000 addresses is one request.</p>
${table(
  ["Plan", "Of a key", "Of the account", "Addresses per job", "Results stored"],
  PLAN_IDS.map((id) => [
    code(id),
    html`${PLANS[id].requestsPerMinute.toLocaleString("en")}`,
    html`${PLANS[id].accountRequestsPerMinute.toLocaleString("en")}`,
    html`${PLANS[id].jobAddressesMax.toLocaleString("en")}`,
    html`${PLANS[id].retentionDays} days`,
  ]),
)}
<p>Every response to a key has these headers, with the limit that is nearer. Live and test keys are counted separately. Beyond the limit the response is 429, which charges nothing, with <code>Retry-After</code> in seconds.</p>
${block(
  `HTTP/1.1 200 OK
X-RateLimit-Limit: 600
X-RateLimit-Remaining: 597
X-RateLimit-Reset: 1795219260`,
  "http",
)}`,
};

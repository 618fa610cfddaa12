import { LOOK_UP_ROUTES, STATUS } from "@mailproof/api/http/http-failure";
import { ERRORS, errorExample } from "@mailproof/api/openapi/errors";
import { PLAN_IDS, PLANS } from "@mailproof/core/accounts/plans";
import { type FailureCode, getMoneySentence, type MoneyOutcome } from "@mailproof/core/lib/failure";
import type { Guide } from "./guide.ts";
import { block, code, html, inLanguages, inline, table } from "./html.ts";
import { repeats } from "./pictures.ts";
import { retrying } from "./programs.ts";

// What goes wrong, and what it means for the money.

/** What to do about each sentence that a message can end with. */
const REMEDIES: readonly (readonly [money: MoneyOutcome, then: string])[] = [
  ["nothing_charged", "Send it again whenever you like."],
  ["refunded", "The same: it is as if you had not asked."],
  [
    "retry_same_key",
    "Do just that, after you corrected what the message names. Another key would be another request. An earlier request with this key may have been charged: this is said whenever the service refused before it looked.",
  ],
  ["repeat_search", "Send it again soon: a search is its own key."],
  ["unknown", "Look first. It may have been done."],
  ["kept", "Tell us, with the `request_id`."],
];

export const errors: Guide = {
  id: "errors",
  title: "Errors, and what they mean for money",
  write: () => html`
<p class="lead">A failure always says what happened to the money. There is no other kind.</p>
${block(JSON.stringify(errorExample(ERRORS.INSUFFICIENT_CREDITS), null, 2), "json")}
<p>Programs look at <code>error.code</code>, people read <code>error.message</code>, and <code>error.money</code> says what became of the money. <code>details</code> names the fields, the scope or the rows; <code>retryable</code> is there when the same request may succeed later; <code>request_id</code> finds it in our log.</p>
<h3>What became of the money</h3>
${table(
  ["Money", "The message ends with", "So"],
  REMEDIES.map(([money, then]) => [
    code(money),
    html`${getMoneySentence(money, LOOK_UP_ROUTES.listJobs)}`,
    inline(then),
  ]),
)}
<h3>The codes</h3>
${table(
  ["Code", "Status", "Means", "What to do"],
  Object.entries(ERRORS).map(([name, { means, remedy }]) => [
    code(name),
    html`${STATUS[name as FailureCode]}`,
    inline(means),
    inline(remedy),
  ]),
)}`,
};

export const idempotency: Guide = {
  id: "idempotency",
  title: "Paying once: Idempotency-Key",
  write: (baseUrl) => html`
<p class="lead">Networks lose answers. A request that carries an <code>Idempotency-Key</code> can be sent again as often as you like: it is done once and charged once.</p>
<div class="beside"><div>
<ul>
<li>The key is yours: 1 to 255 printable ASCII characters without spaces. A UUID is fine, the number of your order is better.</li>
<li>It belongs to your account and to this operation, for 30 days. Keys of live and test keys are apart.</li>
<li>The same request with the same key gives the first answer, with <code>idempotent_replay: true</code> and <code>credits_used: 0</code>.</li>
<li>Another request with the same key is 409 <code>IDEMPOTENCY_KEY_CONFLICT</code>, before any charge. A field left out is the same as its default.</li>
<li>While the first is still at work a repeat is 409 <code>REQUEST_IN_PROGRESS</code> with <code>Retry-After</code>. A file answers 202 with <code>dispatch_in_progress</code>.</li>
<li>What was refused before the charge, such as a 400 or 402, is not remembered. Correct it and use the same key.</li>
<li>What was refunded frees the key: the same key is then a new purchase.</li>
</ul>
<p>Taken by <a href="#verifyEmail">verify</a>, <a href="#verifyBatch">batch</a>, <a href="#verifyFile">file</a> and <a href="#checkDomain">check</a>. A <a href="#findEmail">search</a> needs none: it is its own key, for its two minutes.</p>
</div>${repeats()}</div>
${inLanguages(retrying(baseUrl))}`,
};

export const rateLimits: Guide = {
  id: "rate-limits",
  title: "Rate limits",
  write: () => html`
<p class="lead">So many requests in a minute, for each key. A batch of 10,000 addresses is one request.</p>
${table(
  ["Plan", "Requests per minute", "Addresses per job", "Results kept"],
  PLAN_IDS.map((id) => [
    code(id),
    html`${PLANS[id].requestsPerMinute.toLocaleString("en")}`,
    html`${PLANS[id].jobAddressesMax.toLocaleString("en")}`,
    html`${PLANS[id].retentionDays} days`,
  ]),
)}
<p>Every answer to a key tells where it stands. Beyond the limit it is 429, which charges nothing, with <code>Retry-After</code> in seconds.</p>
${block(
  `HTTP/1.1 200 OK
X-RateLimit-Limit: 600
X-RateLimit-Remaining: 597
X-RateLimit-Reset: 1795219260`,
  "http",
)}`,
};

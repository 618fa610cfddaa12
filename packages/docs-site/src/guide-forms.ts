import { HERE_PATH } from "@mailproof/api/http/documents";
import { VISITOR_REQUESTS_PER_MINUTE } from "@mailproof/core/accounts/public-keys";
import { formatCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import { MODULE_PATH, SCRIPT_INTEGRITY } from "@mailproof/guard/built";
import { backEnds, connectPolicy, page, snippet } from "./form-programs.ts";
import type { Guide } from "./guide.ts";
import { block, code, html, inLanguages, inline, table } from "./html.ts";

const CREATE = {
  route: "POST /v1/api-keys",
  path: {},
  query: {},
  request: {
    name: "Sign-up form",
    mode: "test",
    public: { origins: ["https://www.example.com"], daily_limit: 500 },
  },
};

const CLASSES = [
  ["go", "Takes the address.", "Everything else, and whatever could not be found out."],
  [
    "ask",
    "Shows the correction, or asks the visitor to look again. The second time it is sent.",
    "A likely typo (`typo`), or a role address (`role_account`).",
  ],
  [
    "no",
    "Asks for another address.",
    "It is not well formed, its domain does not exist or takes no mail, or it is disposable.",
  ],
] as const;

export const signUpForms: Guide = {
  id: "sign-up-forms",
  title: "Protect a sign-up form",
  summary: "Check addresses where visitors type them, without standing in their way.",
  write: (baseUrl, snippets) => html`
<p class="lead">One script in the page, and a receipt that your back end checks without a call. If this service is slow or away, your form works as before: it never waits for more than two seconds.</p>
<h3>1. Make a public key</h3>
<p>Anyone may read it in your page, so it is bound to the origins of your pages, only verifies what visitors type, and has a limit for each day. Make it in the <a href="${HERE_PATH}/app/">dashboard</a>, under “API keys”, or as below. Begin with <code>test</code>, which simulates the <a href="#test-addresses">test addresses</a> for nothing, and make a <code>live</code> one when your form works.</p>
${inLanguages(snippets(baseUrl, CREATE))}
<h3>2. Put the script into the page</h3>
${block(snippet(baseUrl), "html")}
<p>Let the page connect to your own site and this service alone, by the header ${code(`Content-Security-Policy: ${connectPolicy(baseUrl)}`)} or the <code>meta</code> element below: then a fault in the page cannot send typed addresses anywhere else.</p>
<p>It watches each <code>type="email"</code> field of a form, except where <code>current-password</code> shows a sign-in. It asks once the visitor has left the field, shows what it found below, and writes <code>mailproof_receipt</code> and <code>mailproof_job</code> into the form. It uses no cookie and no storage.</p>
${table(
  ["Class", "What the form does", "Why"],
  CLASSES.map(([name, does, why]) => [code(name), html`${does}`, inline(why)]),
)}
<p><strong>The class does not tell whether a mailbox exists</strong>, so nobody can use your form to find out who has one. It is the same text, of the same size and after the same time. The mail server's word is for your back end alone: refuse no sign-up by it, or your form tells what the class does not.</p>
<h3>3. Check the receipt in your back end</h3>
<p>A whole example. Save this as <code>signup.html</code>, with your key:</p>
${block(page(baseUrl), "html")}
<p>and start one of these beside it. <code>ORIGIN</code> is the origin of your page, <code>MAILPROOF_ACCOUNT</code> your account’s id (<a href="#getAccount"><code>GET /v1/account</code></a>), and <code>MAILPROOF_KEY</code> a secret key for visitors without a receipt. <strong>Check <code>aud</code> and <code>mode</code> as they do:</strong> other customers of this service have receipts of the same keys and may name your origin, and a test key proves control of any address. To try it with test keys, set <code>MODE=test</code>.</p>
${inLanguages(backEnds(baseUrl))}
<p>Receipts are signed by <a href="#getReceiptKeys">keys of this service</a>, one for each year; next year's is published already. <code>mailproof receipt</code> checks one by hand. The address is in it as a plain SHA-256, which can be found by trying: keep receipts as you keep addresses.</p>
<h3>4. Read what the mail server said</h3>
<p><code>jti</code> in the receipt is the job that asks it. Before your first mail, read the result at <code>GET /v1/jobs/{id}</code>, or wait for the event <code>job.completed</code>. It is paid with the form's request: ${formatCredits(PRICES.verify)} in all, and nothing if we could not ask.</p>
<h3>The page's policy</h3>
<p>With a Content-Security-Policy allow ${code(`script-src '${SCRIPT_INTEGRITY}'`)} and ${code(connectPolicy(baseUrl))}; Trusted Types may be required. The bytes of a version never change. For your own bundle, <a href="${HERE_PATH}${MODULE_PATH}">the same as a module</a> has <code>guard({ key, api, texts })</code>.</p>
<h3>Words and looks</h3>
<p>The hint is a <code>div</code> of class <code>mailproof-hint</code> behind the field. For another language add <code>data-suggestion="Meinten Sie {email}?"</code>, <code>data-ask</code> and <code>data-no</code> to the script's element.</p>
<h3>Limits</h3>
<p>A visitor's network has ${VISITOR_REQUESTS_PER_MINUTE} requests a minute, the key as many as <a href="#rate-limits">any key of your plan</a>, and the day what you set. Beyond them the form goes on without an answer. A program can pretend to come from your page: the day's limit is what it can spend there. Sent to your form without a receipt, each address makes your back end ask with its own key, so limit how often a visitor may sign up.</p>
<h3>Proof of control</h3>
<p>Some browsers bring a proof from the mail provider that the visitor controls the address (Email Verification Protocol). Add <code>&lt;input type="hidden" name="evt" autocomplete="email-verification-token" nonce="…"&gt;</code> to the form, with a nonce of its own for each page. The script passes it on; a good one costs ${formatCredits(PRICES.verifyControlled)}, and the receipt has <code>proof</code> and the <code>nonce</code>: compare it with yours, and take each only once.</p>`,
};

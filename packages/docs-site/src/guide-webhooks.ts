import { EVENTS } from "@mailproof/api/openapi/components";
import { getDescription } from "@mailproof/api/openapi/schema";
import type { Guide } from "./guide.ts";
import { block, code, html, inLanguages, table } from "./html.ts";
import { VERIFYING } from "./programs.ts";

const SENT = `POST /mailproof HTTP/1.1
Content-Type: application/json
webhook-id: evt_2f1c0d6e-5a0b-4a8e-9c55-0a4c6f3f7d11
webhook-timestamp: 1795219200
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"id": "evt_2f1c0d6e-5a0b-4a8e-9c55-0a4c6f3f7d11", "type": "job.completed",
 "created_at": "2026-11-21T00:00:00.000Z",
 "data": {"job_id": "job_7b1e…", "status": "completed", "progress": {…}}}`;

export const webhooks: Guide = {
  id: "webhooks",
  title: "Webhooks",
  write: () => html`
<p class="lead">Get notified instead of polling. <a href="#createWebhook">Subscribe</a> an HTTPS address to events; keep the secret of that answer, it is shown this once.</p>
${table(
  ["Event", "Meaning"],
  EVENTS.map(([event, schema]) => [code(event), html`${getDescription(schema) ?? ""}`]),
)}
<h3>What arrives</h3>
${block(SENT, "http")}
<h3>Is it from us?</h3>
<p>The signature is that of Standard Webhooks, so any library of that standard can check it. Without one it is a dozen lines:</p>
${inLanguages(VERIFYING)}
<h3>What to expect</h3>
<ul>
<li><strong>Answer with 2xx within 10 seconds</strong>, and work afterwards. Anything else is tried again, for a day, with growing pauses.</li>
<li><strong>At least once.</strong> The same event may come twice, with the same <code>webhook-id</code>. Remember the ids for two days.</li>
<li><strong>In no order.</strong> <code>created_at</code> says when it happened.</li>
<li><strong>410 disables</strong> the webhook at once; so do five days in which nothing arrived. <a href="#updateWebhook">Enable</a> it again when you are back.</li>
<li><a href="#testWebhook">Send a test event</a>, <a href="#listDeliveries">read the log</a> of what was sent and answered, <a href="#retryDelivery">send one again</a>.</li>
<li>The callback of a batch (<code>webhook_url</code>) is signed when you send a <code>webhook_secret</code>: begin it with <code>whsec_</code> and go on in base64 for a library to check it, or take any text, whose own bytes are the key then. That of a file never is signed: take it as a hint to read the job. <a href="#listCallbacks">Its log</a> is read by the job.</li>
</ul>`,
};

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
  summary: "Events, their signatures, and how deliveries are retried.",
  write: () => html`
<p class="lead">Get notified instead of polling. <a href="#createWebhook">Subscribe</a> an HTTPS address to events; store the secret from the response; it is shown only once.</p>
${table(
  ["Event", "Meaning"],
  EVENTS.map(([event, schema]) => [code(event), html`${getDescription(schema) ?? ""}`]),
)}
<h3>What arrives</h3>
${block(SENT, "http")}
<h3>Is it from us?</h3>
<p>The signature is that of Standard Webhooks, so any library of that standard can check it. Without a library:</p>
${inLanguages(VERIFYING)}
<h3>What to expect</h3>
<ul>
<li><strong>Respond with 2xx within 10 seconds</strong>, then do the work. Any other response is retried for a day, with increasing pauses.</li>
<li><strong>At least once.</strong> An event may arrive twice, with the same <code>webhook-id</code>. Remember the ids for two days.</li>
<li><strong>In no order.</strong> <code>created_at</code> is the time of the event.</li>
<li><strong>410 disables</strong> the webhook at once; so do five days without a successful delivery. <a href="#updateWebhook">Enable</a> it again afterwards.</li>
<li><a href="#testWebhook">Send a test event</a>, <a href="#listDeliveries">list deliveries</a> with their responses, <a href="#retryDelivery">send one again</a>, or <a href="#replayDeliveries">all that failed since a time</a>.</li>
<li><strong>While you develop</strong>, <code>mailproof listen http://localhost:3000/hooks</code> brings the events to your machine, by <a href="#listEvents">reading them</a>.</li>
<li>The callback of a batch (<code>webhook_url</code>) is signed when you send a <code>webhook_secret</code>: use <code>whsec_</code> and base64 for a library, or any other text, whose bytes are then the key. The callback of a file is never signed: treat it as a hint to read the job. <a href="#listCallbacks">List its deliveries</a> by job.</li>
</ul>`,
};

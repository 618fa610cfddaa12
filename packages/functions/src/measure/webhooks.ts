import { toStatusClass } from "@mailproof/api/http/status-class";
import type { Https } from "@mailproof/core/ports/https";
import { metrics } from "../metrics.ts";

export const countWebhookCalls = (https: Https): Https => ({
  ...https,
  call: async (request) => {
    const outcome = await https.call(request);
    // A deliverability check reads documents by the same port, with GET.
    if (request.method !== "POST") return outcome;
    const name = "mailproof_webhook_calls_total";
    if (outcome.kind === "answer") metrics.count(name, { outcome: toStatusClass(outcome.status) });
    else metrics.count(name, { outcome: "failed" }, { fault: outcome.why });
    return outcome;
  },
});

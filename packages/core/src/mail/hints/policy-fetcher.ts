import type { Https } from "../../ports/https.ts";
import type { FetchPolicy } from "./mta-sts.ts";

/** Gets a policy as RFC 8461 §3.3 wants it: over HTTPS that is valid for the name, and along no redirect. */
export const createPolicyFetcher =
  (https: Pick<Https, "call">): FetchPolicy =>
  async (url) => {
    const outcome = await https.call({ method: "GET", url, headers: {} });
    if (outcome.kind === "failed") return outcome;
    const { status, contentType, body, isComplete: isWhole } = outcome;
    return isWhole
      ? { kind: "answer", status, contentType, body }
      : { kind: "failed", why: "incomplete" };
  };

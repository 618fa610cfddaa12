import type { Trust } from "@mailproof/core/access/tokens";
import { type Environment, required } from "./settings.ts";

/** Whose access tokens open this service; none where the deployment names none. */
export const trustedIssuer = (environment: Environment): Trust | null => {
  const issuer = environment["OAUTH_ISSUER"];
  return issuer ? { issuer, audience: required(environment, "OAUTH_AUDIENCE") } : null;
};

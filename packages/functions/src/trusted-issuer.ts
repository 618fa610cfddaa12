import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { type LambdaEnvironment, requireSetting } from "./settings.ts";

/** Whose access tokens open this service; none where the deployment names none. */
export const readTrustedIssuer = (environment: LambdaEnvironment): TrustedIssuer | null => {
  const issuer = environment["OAUTH_ISSUER"];
  return issuer ? { issuer, audience: requireSetting(environment, "OAUTH_AUDIENCE") } : null;
};

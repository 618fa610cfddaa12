import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { type LambdaEnvironment, requireSetting } from "./settings.ts";

/** The issuer whose access tokens the service accepts; null without a setting. */
export const readTrustedIssuer = (environment: LambdaEnvironment): TrustedIssuer | null => {
  const issuer = environment["OAUTH_ISSUER"];
  return issuer ? { issuer, audience: requireSetting(environment, "OAUTH_AUDIENCE") } : null;
};

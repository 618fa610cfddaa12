import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import type { OidcSettings } from "@mailproof/core/ports/settings";
import { type LambdaEnvironment, requireSetting } from "./settings.ts";

/** The issuer whose access tokens the service accepts; null without a setting. */
export const readTrustedIssuer = (environment: LambdaEnvironment): TrustedIssuer | null => {
  const issuer = environment["OAUTH_ISSUER"];
  return issuer ? { issuer, audience: requireSetting(environment, "OAUTH_AUDIENCE") } : null;
};

/** The provider that people sign in with; null without a setting. Only the Lambda that redeems codes has its secret. */
export const readOidc = (environment: LambdaEnvironment): OidcSettings | null => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = environment;
  const clientSecret = environment["OIDC_CLIENT_SECRET"] || null;
  return issuer && clientId ? { issuer, clientId, clientSecret } : null;
};

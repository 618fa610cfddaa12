import type { World } from "@mailproof/core/world";
import { tokensOf } from "@mailproof/net/tokens";
import { type Environment, required } from "./settings.ts";

/** Whose access tokens open this service; none where the deployment names none. */
export const trustedTokens = (environment: Environment, now: World["now"]) => {
  const issuer = environment["OAUTH_ISSUER"];
  const audience = issuer && required(environment, "OAUTH_AUDIENCE");
  return issuer && audience ? tokensOf({ issuer, audience }, now) : null;
};

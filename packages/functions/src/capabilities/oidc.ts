import { createOidc } from "@mailproof/net/oidc";
import type { Capability } from "../lambda-world.ts";
import { readOidc } from "../trusted-issuer.ts";

/** For the endpoint that needs "oidc". */
export const withOidc: Capability = ({ environment, now }) => {
  const settings = readOidc(environment);
  if (!settings) return {};
  const oidc = createOidc(settings, now);
  return { oidc: async () => oidc };
};

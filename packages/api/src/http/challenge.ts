import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Where an OAuth issuer publishes what it is (OpenID Connect Discovery §4). */
export const DISCOVERY_PATH = "/.well-known/openid-configuration";

/** What WWW-Authenticate says (RFC 6750 §3): how to come in, and where to read who gives out tokens (RFC 9728 §5.1). */
export const challenge = (
  { accessTokens: tokens }: AppWorld,
  because: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => {
  const parameters = {
    realm: "mailproof",
    ...because,
    ...(tokens && { resource_metadata: metadataAddress(tokens.audience) }),
  };
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
  return { "www-authenticate": `Bearer ${pairs.join(", ")}` };
};

/** Tokens may be made for this whole service or for its tools alone: one document speaks for both. */
const metadataAddress = (audience: string): string =>
  audience.replace(/\/(?:mcp\/?)?$/, "") + METADATA_PATH;

/** RFC 9728: what a client that has no token reads, to learn who gives them out. */
export const toResourceMetadata = ({ issuer, audience }: TrustedIssuer) => ({
  resource: audience,
  authorization_servers: [issuer],
  scopes_supported: SCOPES,
  bearer_methods_supported: ["header"],
  resource_name: "Mailproof",
});

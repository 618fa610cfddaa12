import type { TrustedIssuer } from "@mailproof/core/accounts/access-tokens";
import { SCOPES } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** The value of WWW-Authenticate (RFC 6750 §3): how to authenticate, and where a client finds the issuer (RFC 9728 §5.1). */
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

/** A token's audience may be the whole service or only its tools; one document covers both. */
const metadataAddress = (audience: string): string =>
  audience.replace(/\/(?:mcp\/?)?$/, "") + METADATA_PATH;

/** RFC 9728: a client without a token reads here which issuer to use. */
export const toResourceMetadata = ({ issuer, audience }: TrustedIssuer) => ({
  resource: audience,
  authorization_servers: [issuer],
  scopes_supported: SCOPES,
  bearer_methods_supported: ["header"],
  resource_name: "Mailproof",
});

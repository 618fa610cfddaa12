import { passkeyVerifier } from "@mailproof/net/passkey-verifier";
import type { Capability } from "../lambda-world.ts";

/** For an endpoint that needs "passkeys". The library is larger than the rest of the bundle. */
export const withPasskeys: Capability = () => ({ passkeys: passkeyVerifier });

import { ALGORITHMS, type PasskeyVerifier } from "@mailproof/core/people/passkeys";

// The library is large, so it is loaded with the first passkey. It throws for an invalid response.

const load = () => import("@simplewebauthn/server");
const loadHelpers = () => import("@simplewebauthn/server/helpers");

const toExpectations = ({ challenge, origin }: { challenge: string; origin: string }) => ({
  expectedChallenge: challenge,
  expectedOrigin: origin,
  expectedRPID: new URL(origin).hostname,
  requireUserVerification: true,
});

/** The library requires results of extensions, and reads none. */
const toLibraryForm = <T extends object>(response: T) => ({
  ...response,
  clientExtensionResults: {},
});

export const passkeyVerifier: PasskeyVerifier = {
  verifyCreation: async (response, expected) => {
    const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
      load(),
      loadHelpers(),
    ]);
    try {
      const object = Buffer.from(response.response.attestationObject, "base64url");
      // The options ask for no attestation. The library would parse the certificates of one and call the URLs in them.
      const statement = decodeAttestationObject(Uint8Array.from(object)).get("attStmt");
      if (statement.get("x5c") || statement.get("response")) return undefined;
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        ...toExpectations(expected),
        response: toLibraryForm(response) as never,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified || registrationInfo.credential.id !== response.id) return undefined;
      const { id, publicKey, counter } = registrationInfo.credential;
      const { transports } = response.response;
      return {
        id,
        publicKey: Buffer.from(publicKey).toString("base64url"),
        counter,
        ...(transports && { transports }),
      };
    } catch {
      return undefined;
    }
  },

  verifyUse: async (response, { publicKey, ...expected }) => {
    const { verifyAuthenticationResponse } = await load();
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...toExpectations(expected),
        response: toLibraryForm(response) as never,
        credential: {
          id: response.id,
          publicKey: Uint8Array.from(Buffer.from(publicKey, "base64url")),
          // Below every counter: the library compares before it checks the signature, so anybody could report a copy.
          counter: -1,
        },
      });
      return verified ? authenticationInfo.newCounter : undefined;
    } catch {
      return undefined;
    }
  },
};

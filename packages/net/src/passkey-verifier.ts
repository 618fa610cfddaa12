import { ALGORITHMS, type PasskeyVerifier } from "@mailproof/core/people/passkeys";

// The library is large, so it loads with the first passkey. It throws for an invalid response.

const load = () => import("@simplewebauthn/server");

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
    const { verifyRegistrationResponse } = await load();
    try {
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

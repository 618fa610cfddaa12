import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  exportJWK,
  exportSPKI,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";
import { onTestFinished } from "vitest";

type Pair = { readonly kid: string; readonly alg: string } & GenerateKeyPairResult;

/** Says what the real thing would say, unless a test takes its place. */
type Say = (path: string) => unknown;

/**
 * An OAuth issuer on loopback, with keys of its own and the two documents by which they are found. A token is made
 * by `sign`, for whom and until when the test says.
 */
export const givenIssuer = async ({ at = "", say }: { at?: string; say?: Say } = {}) => {
  let grant: JWTPayload | undefined;
  const requestedPaths: string[] = [];
  const pairs: Pair[] = [];
  let isDown = false;
  const listening = createServer((incoming, outgoing) => {
    const path = incoming.url ?? "";
    requestedPaths.push(path);
    void Promise.try(say ?? documents, path).then((body) => {
      const status = isDown ? 503 : body === undefined ? 404 : 200;
      outgoing.writeHead(status).end(JSON.stringify(body));
    });
  });
  listening.listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  const issuer = `http://127.0.0.1:${(listening.address() as AddressInfo).port}${at}`;

  const documents = async (path: string) => {
    if (path === `${at}/.well-known/openid-configuration`)
      return {
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      };
    if (path === `${at}/token` && grant)
      return { access_token: await sign(grant), token_type: "Bearer", expires_in: 300 };
    if (path !== `${at}/keys`) return undefined;
    const keys = pairs.map(async ({ publicKey, kid, alg }) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg,
      use: "sig",
    }));
    return { keys: await Promise.all(keys) };
  };

  const addKey = async (kid: string, alg = "ES256") => {
    const pair = { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
    pairs.unshift(pair);
    return pair;
  };
  await addKey("first");

  /** With the newest key, unless another one is named. */
  const sign = async (
    claims: JWTPayload,
    by: Partial<Pair> & { header?: Partial<JWTHeaderParameters> } = {},
  ) => {
    const { kid, alg, privateKey } = { ...(pairs[0] as Pair), ...by };
    return new SignJWT({ iss: issuer, ...claims })
      .setProtectedHeader({ alg, kid, ...by.header })
      .sign(privateKey);
  };

  return {
    issuer,
    /** The path of every request so far. */
    asked: requestedPaths,
    documents,
    addKey,
    forget: (kid: string) => {
      const position = pairs.findIndex((one) => one.kid === kid);
      pairs.splice(position, 1);
    },
    goDown: () => void (isDown = true),
    comeBack: () => void (isDown = false),
    sign,
    /** From now on a client that asks for a token is given one that says this. */
    grants: (claims: JWTPayload) => void (grant = claims),
    /** Public text in the form of a secret. */
    publicText: async () => exportSPKI((pairs[0] as Pair).publicKey),
  };
};

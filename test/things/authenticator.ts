import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { BASE_URL } from "../app/send.ts";

// An authenticator and its browser, in software: it makes passkeys and signs with them (WebAuthn, §6 and §7). A test may make
// any part of a response wrong.

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>;

/** RFC 8949 §3: the major type, and a number in the shortest form. */
const toHead = (major: number, value: number): Buffer => {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
};

const toCbor = (value: Cbor): Buffer => {
  if (typeof value === "number") return value < 0 ? toHead(1, -1 - value) : toHead(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([toHead(2, value.length), value]);
  if (typeof value === "string")
    return Buffer.concat([toHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  const entries = [...value];
  return Buffer.concat([toHead(5, entries.length), ...entries.flat().map((one) => toCbor(one))]);
};

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

const readJwk = ({ publicKey }: Pair, ...fields: readonly string[]): readonly Buffer[] => {
  const jwk = publicKey.export({ format: "jwk" });
  return fields.map((field) => Buffer.from(String(jwk[field]), "base64url"));
};

type Algorithm = {
  readonly generate: () => Pair;
  /** The key's fields beside its algorithm (RFC 9052 §7, RFC 9053 §7). */
  readonly toCose: (pair: Pair) => readonly (readonly [number, Cbor])[];
  readonly hash: string | null;
};

const createCurve = (namedCurve: string, curve: number, hash: string): Algorithm => ({
  generate: () => generateKeyPairSync("ec", { namedCurve }),
  toCose: (pair) => {
    const [x = Buffer.of(), y = Buffer.of()] = readJwk(pair, "x", "y");
    return [
      [1, 2],
      [-1, curve],
      [-2, x],
      [-3, y],
    ];
  },
  hash,
});

/** By their COSE numbers. */
const ALGORITHMS: Readonly<Record<number, Algorithm>> = {
  [-8]: {
    generate: () => generateKeyPairSync("ed25519"),
    toCose: (pair) => {
      const [x = Buffer.of()] = readJwk(pair, "x");
      return [
        [1, 1],
        [-1, 6],
        [-2, x],
      ];
    },
    hash: null,
  },
  [-7]: createCurve("P-256", 1, "sha256"),
  [-35]: createCurve("P-384", 2, "sha384"),
  [-48]: {
    generate: () => generateKeyPairSync("ml-dsa-44"),
    toCose: ({ publicKey }) => [
      [1, 7],
      [-1, publicKey.export({ format: "raw-public" } as never) as unknown as Buffer],
    ],
    hash: null,
  },
  [-257]: {
    generate: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
    toCose: (pair) => {
      const [n = Buffer.of(), e = Buffer.of()] = readJwk(pair, "n", "e");
      return [
        [1, 3],
        [-1, n],
        [-2, e],
      ];
    },
    hash: "sha256",
  },
};

/** What a response may state that is not as it should be. */
export type Changes = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly id?: string;
  /** Signs with another key. */
  readonly isForged?: boolean;
};

type Options = {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
};

const FLAGS = { present: 1, verified: 4, newKey: 64 };

const hash = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const toText = (bytes: Buffer): string => bytes.toString("base64url");

/** With one passkey, which it makes at `create`. `counts`: like a security key, and unlike passkeys that are synchronised. */
export const createAuthenticator = ({
  algorithm = -7,
  counts = true,
  id = randomBytes(20),
} = {}) => {
  const known = ALGORITHMS[algorithm] as Algorithm;
  const pair = known.generate();
  let counter = 0;
  let user = "";

  const toClientData = (type: string, options: Options, changes: Changes): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? options.challenge,
        origin: changes.origin ?? BASE_URL,
        crossOrigin: changes.crossOrigin ?? false,
      }),
    );

  const toData = (host: string, changes: Changes, added = Buffer.of()): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(changes.counter ?? counter);
    const flags =
      FLAGS.present +
      ((changes.isVerified ?? true) ? FLAGS.verified : 0) +
      (added.length > 0 ? FLAGS.newKey : 0);
    return Buffer.concat([hash(changes.rpId ?? host), Buffer.of(flags), count, added]);
  };

  const name = (shown = toText(id)) => ({ id: shown, rawId: shown, type: "public-key" });

  return {
    id: toText(id),
    create: (options: Options, changes: Changes = {}) => {
      user = options.user?.id ?? "";
      const key = toCbor(new Map<number, Cbor>([[3, algorithm], ...known.toCose(pair)]));
      const length = Buffer.of(id.length >> 8, id.length & 255);
      const added = Buffer.concat([Buffer.alloc(16), length, id, key]);
      const attestation = new Map<string, Cbor>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", toData(options.rp?.id ?? "", changes, added)],
      ]);
      return {
        ...name(changes.id),
        clientExtensionResults: {},
        response: {
          clientDataJSON: toText(toClientData("webauthn.create", options, changes)),
          attestationObject: toText(toCbor(attestation)),
          transports: ["usb"],
        },
      };
    },
    use: (options: Options, changes: Changes = {}) => {
      if (counts) counter++;
      const clientData = toClientData("webauthn.get", options, changes);
      const data = toData(options.rpId ?? "", changes);
      const { privateKey } = changes.isForged ? known.generate() : pair;
      return {
        ...name(changes.id),
        clientExtensionResults: {},
        response: {
          clientDataJSON: toText(clientData),
          authenticatorData: toText(data),
          signature: toText(sign(known.hash, Buffer.concat([data, hash(clientData)]), privateKey)),
          userHandle: changes.userHandle ?? user,
        },
      };
    },
  };
};

export type Authenticator = ReturnType<typeof createAuthenticator>;

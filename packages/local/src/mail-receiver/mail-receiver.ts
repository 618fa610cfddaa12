import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import type { CheckWorld } from "@mailproof/core/deliverability/dns-lookups";
import { createBudget } from "@mailproof/core/lib/budget";
import { addMs, DAY_MS, MINUTE_MS } from "@mailproof/core/lib/time";
import { toNetwork } from "@mailproof/mail/ip";
import type { Environment } from "../environment.ts";
import { MAIL_LIMITS, type MailLimits } from "./limits.ts";
import { type MailServer, NO_COMMANDS, type Session, serveMailSession } from "./mail-session.ts";
import { createMailWire, READ_AHEAD } from "./mail-wire.ts";
import { REPLIES } from "./replies.ts";

// Node reads X.509 and cannot create it. Senders encrypt without a check of the certificate (RFC 3207), so a self-signed one serves them.
// This module writes its few required fields (RFC 5280 §4.1), in DER.

type Certificate = { readonly key: string; readonly cert: string };

const VALID_DAYS = 365 * 5;
/** A sender's clock may be a little behind. */
const VALID_BEFORE_DAYS = 1;

export const createSelfSigned = (host: string, now: Date): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signed = sequence(
    explicit(0, integer(Buffer.from([2]))),
    // The first byte makes the number positive and not 0.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    createName(host),
    sequence(
      toTime(addMs(now, -VALID_BEFORE_DAYS * DAY_MS)),
      toTime(addMs(now, VALID_DAYS * DAY_MS)),
    ),
    createName(host),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(
      3,
      sequence(sequence(SUBJECT_ALT_NAME, tag(0x04, sequence(tag(0x82, Buffer.from(host)))))),
    ),
  );
  const signature = sign("sha256", signed, privateKey);
  const cert = sequence(signed, ECDSA_WITH_SHA256, tag(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: toPem(cert),
  };
};

const tag = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([type, ...toLength(content.length)]), content]);
};

/** Lengths below 128 take one byte; longer ones start with the number of their bytes (X.690 §8.1.3). */
const toLength = (length: number): readonly number[] => {
  if (length < 128) return [length];
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return [0x80 | bytes.length, ...bytes];
};

const sequence = (...parts: readonly Buffer[]): Buffer => tag(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => tag(0x02, bytes);
const explicit = (number: number, content: Buffer): Buffer => tag(0xa0 + number, content);
const oid = (hex: string): Buffer => tag(0x06, Buffer.from(hex, "hex"));

const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"));
const SUBJECT_ALT_NAME = oid("551d11");
const COMMON_NAME = oid("550403");
/** The longest common name; the alternative name holds the whole name. */
const COMMON_NAME_MAX = 64;

const createName = (host: string): Buffer => {
  const name = tag(0x0c, Buffer.from(host.slice(0, COMMON_NAME_MAX)));
  return sequence(tag(0x31, sequence(COMMON_NAME, name)));
};

const toTime = (at: Date): Buffer =>
  tag(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+Z/g, "")}Z`));

const toPem = (der: Buffer): string => {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
};

export type MailReceiver = {
  readonly port: number;
  /** Accepts no further connections, and interrupts the sessions. A message that is being stored gets its reply first. */
  readonly stop: () => Promise<void>;
};

type Options = Pick<Environment, "MAIL_PORT" | "MAIL_HOST" | "MAIL_TLS_FILE">;

export const startMailReceiver = async (
  world: CheckWorld,
  name: string,
  options: Options,
  limits: MailLimits = MAIL_LIMITS,
  steadyMs: () => number = () => performance.now(),
): Promise<MailReceiver> => {
  const sessions = new Map<Session, Promise<void>>();
  const admit = createAdmission(sessions, limits, world.now);
  const { heldBytesMax, piecesPerSecondMax, postmasterBytesMax } = limits;
  const pieces = createBudget(
    { inAll: piecesPerSecondMax, perShare: piecesPerSecondMax / 2, refillMs: 1_000 },
    // The processor's capacity does not depend on the clock being right.
    () => new Date(steadyMs()),
  );
  let turn = 0;
  const mailServer: MailServer = {
    world,
    name,
    limits,
    tls: createContext(name, options, world.now()),
    held: createBudget({ inAll: heldBytesMax, perShare: heldBytesMax }),
    postmaster: createBudget(
      { inAll: postmasterBytesMax, perShare: postmasterBytesMax, refillMs: DAY_MS },
      world.now,
    ),
    nextTurn: () => ++turn,
  };
  const server = createServer({ noDelay: true, ...READ_AHEAD }, (socket) => {
    const ip = (socket.remoteAddress ?? "").replace(/^::ffff:/, "");
    const network = toNetwork(ip);
    const wire = createMailWire(
      socket,
      limits,
      (count) => pieces.take(network, count) !== undefined,
    );
    const refusal = admit(network);
    if (refusal !== undefined) {
      wire.end(refusal);
      return wire.hangUp();
    }
    const progressedAt = mailServer.nextTurn();
    const session: Session = { wire, ip, network, ...NO_COMMANDS, progressedAt };
    const over = serveMailSession(mailServer, session)
      .catch((cause: unknown) => world.log("mail_deferred", { cause }))
      .finally(() => {
        sessions.delete(session);
        wire.hangUp();
      });
    sessions.set(session, over);
  });
  server.listen({ host: options.MAIL_HOST, port: options.MAIL_PORT });
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const { wire } of sessions.keys()) wire.end(REPLIES.stopping);
    await Promise.race([Promise.all(sessions.values()), world.sleep(limits.stopMs)]);
    for (const { wire } of sessions.keys()) wire.hangUp();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, stop };
};

/** Reads the private key and the certificates from one PEM file, in any order. */
const createContext = (
  name: string,
  { MAIL_TLS_FILE: file }: Options,
  now: Date,
): SecureContext => {
  const pem = file === undefined ? undefined : readFileSync(file);
  return createSecureContext(pem ? { cert: pem, key: pem } : createSelfSigned(name, now));
};

/**
 * Limits a network's places, and its new connections a minute. When all places are taken, a newcomer replaces a session that waits for its
 * client: of the network with the most sessions, the session without progress towards a message for longest. Undefined when the client may
 * begin.
 */
const createAdmission = (sessions: Map<Session, unknown>, limits: MailLimits, now: () => Date) => {
  const perShare = limits.connectionsPerNetworkMinuteMax;
  const arrivals = createBudget({ inAll: 1e9, perShare, refillMs: MINUTE_MS }, now);
  return (network: string): string | undefined => {
    const all = [...sessions.keys()];
    const count = (of: string): number => all.filter((one) => one.network === of).length;
    const isFull = count(network) >= limits.connectionsPerNetworkMax;
    if (isFull || !arrivals.take(network, 1)) return REPLIES.tooManyConnections;
    if (all.length < limits.connectionsMax) return undefined;
    const [longest] = all
      .filter(({ wire }) => wire.isWaiting())
      .toSorted((one, other) => one.progressedAt - other.progressedAt)
      .toSorted((one, other) => count(other.network) - count(one.network));
    longest?.wire.end(REPLIES.tooManyInAll);
    return longest ? undefined : REPLIES.tooManyInAll;
  };
};

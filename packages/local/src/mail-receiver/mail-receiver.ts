import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import type { CheckWorld } from "@mailproof/core/deliverability/dns-lookups";
import {
  acceptMail,
  findRecipient,
  isOurDomain,
} from "@mailproof/core/deliverability/inbound-mail";
import { MINUTE_MS } from "@mailproof/core/lib/time";
import type { Environment } from "../environment.ts";
import { createSelfSigned } from "./certificate.ts";
import { MAIL_LIMITS, type MailLimits } from "./limits.ts";
import { type MailServer, serveMailSession } from "./mail-session.ts";
import { type Budget, createMailWire, type MailWire } from "./mail-wire.ts";
import { REPLIES } from "./replies.ts";

export type MailReceiver = {
  readonly port: number;
  /** Takes no further connections, and interrupts the sessions. A message that is being stored gets its reply first. */
  readonly stop: () => Promise<void>;
};

type Options = Pick<Environment, "MAIL_PORT" | "MAIL_HOST" | "MAIL_TLS_FILE">;

/** Receives the mail of MAIL_DOMAIN, by SMTP. */
export const startMailReceiver = async (
  world: CheckWorld,
  name: string,
  options: Options,
  limits: MailLimits = MAIL_LIMITS,
): Promise<MailReceiver> => {
  const context = createContext(name, options, world.now());
  const sessions = new Map<MailWire, Promise<void>>();
  const admission = createAdmission(limits, world.now);
  let isStopping = false;
  const mailServer: MailServer = {
    name,
    limits,
    budget: createBudget(limits.bufferedBytesMax),
    now: world.now,
    isOurs: (address) => isOurDomain(world, address),
    findRecipient: (address) => findRecipient(world, address),
    acceptMail: (address, mail) => acceptMail(world, address, mail),
    startTls: (wire) => wire.startTls(context),
    onFailure: (cause) => world.log("mail_deferred", { cause }),
    isStopping: () => isStopping,
  };
  const server = createServer({ noDelay: true }, (socket) => {
    const wire = createMailWire(socket, limits);
    const ip = toIp(socket);
    const refusal = admission.open(ip, sessions.size);
    if (refusal !== undefined) return wire.hangUp(refusal);
    const over = serveMailSession(wire, mailServer, ip)
      .catch(mailServer.onFailure)
      .finally(() => {
        admission.close(ip);
        sessions.delete(wire);
        wire.hangUp();
      });
    sessions.set(wire, over);
  });
  server.listen({ host: options.MAIL_HOST, port: options.MAIL_PORT });
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    isStopping = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const wire of sessions.keys()) wire.interrupt();
    await Promise.race([Promise.all(sessions.values()), world.sleep(limits.stopMs)]);
    for (const wire of sessions.keys()) wire.destroy();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, stop };
};

/** The file has the private key and the certificates, in any order. */
const createContext = (
  name: string,
  { MAIL_TLS_FILE: file }: Options,
  now: Date,
): SecureContext => {
  const pem = file === undefined ? undefined : readFileSync(file);
  return createSecureContext(pem ? { cert: pem, key: pem } : createSelfSigned(name, now));
};

const toIp = ({ remoteAddress = "" }: Socket): string => remoteAddress.replace(/^::ffff:/, "");

/** Counts connections in all, and for each address those that are open and those of this minute. */
const createAdmission = (limits: MailLimits, now: () => Date) => {
  const open = new Map<string, number>();
  let recent = new Map<string, number>();
  let minute = 0;
  return {
    /** Undefined: the client may begin. */
    open: (ip: string, count: number): string | undefined => {
      const thisMinute = Math.floor(now().getTime() / MINUTE_MS);
      if (thisMinute !== minute) {
        minute = thisMinute;
        recent = new Map();
      }
      if (count >= limits.connectionsMax) return REPLIES.tooManyInAll;
      const mine = open.get(ip) ?? 0;
      const mineRecently = recent.get(ip) ?? 0;
      if (mine >= limits.connectionsPerIpMax || mineRecently >= limits.connectionsPerIpMinuteMax)
        return REPLIES.tooManyConnections;
      open.set(ip, mine + 1);
      recent.set(ip, mineRecently + 1);
      return undefined;
    },
    close: (ip: string): void => {
      const left = (open.get(ip) ?? 1) - 1;
      if (left === 0) open.delete(ip);
      else open.set(ip, left);
    },
  };
};

const createBudget = (bytesMax: number): Budget => {
  let used = 0;
  return {
    take: (bytes) => {
      if (used + bytes > bytesMax) return false;
      used += bytes;
      return true;
    },
    giveBack: (bytes) => {
      used -= bytes;
    },
  };
};

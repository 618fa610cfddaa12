import { createRequire } from "node:module";
import type { BenchVerdict, LabAddress } from "./job.ts";
import { findReacherObstacle, openReacher, REACHER } from "./reacher.ts";

// Each peer as its own page shows it, with its own defaults. What it says is taken in the kindest way: a fault that
// it tells apart from a refusal counts as "unknown".

export type AskPeer = (address: string) => Promise<BenchVerdict>;

const require = createRequire(new URL("../package.json", import.meta.url));

type DeepValidate = (options: { email: string }) => Promise<{ valid: boolean }>;
const openDeepEmailValidator = (): AskPeer => {
  const { validate } = require("deep-email-validator") as { validate: DeepValidate };
  return async (email) => ((await validate({ email })).valid ? "valid" : "invalid");
};

type Deep = { wellFormed: boolean; validDomain: boolean | null; validMailbox: boolean | null };
const openEmailDeepValidator = (): AskPeer => {
  const Validator = require("email-deep-validator") as new () => {
    verify: (address: string) => Promise<Deep>;
  };
  const validator = new Validator();
  return async (address) => {
    const { wellFormed, validDomain, validMailbox } = await validator.verify(address);
    if (!wellFormed || validDomain === false || validMailbox === false) return "invalid";
    return validMailbox ? "valid" : "unknown";
  };
};

type Verified = { success: boolean; code?: number; tryagain?: boolean };
type Verify = {
  verify: (
    address: string,
    // Without a timeout of the caller's it waits forever.
    options: { timeout: number },
    callback: (error: Error | null, verified?: Verified) => void,
  ) => void;
  verifyCodes: Record<"SMTPConnectionTimeout" | "SMTPConnectionError", number>;
};
const openEmailVerify = (): AskPeer => {
  const { verify, verifyCodes } = require("email-verify") as Verify;
  const faults = [verifyCodes.SMTPConnectionTimeout, verifyCodes.SMTPConnectionError];
  return (address) =>
    new Promise((resolve) => {
      verify(address, { timeout: 10_000 }, (_error, verified) => {
        const isFault = verified?.tryagain || faults.includes(verified?.code ?? -1);
        if (verified?.success) return resolve("valid");
        resolve(isFault ? "unknown" : "invalid");
      });
    });
};

type Existence = {
  check: (
    address: string,
    callback: (
      error: NodeJS.ErrnoException | null,
      exists: boolean,
      undetermined?: boolean,
    ) => void,
  ) => void;
};
const NO_SUCH = new Set(["ENOTFOUND", "ENODATA"]);
const openEmailExistence = (): AskPeer => {
  const { check } = require("email-existence") as Existence;
  return (address) =>
    new Promise((resolve) => {
      check(address, (error, exists, undetermined) => {
        const isFault = undetermined || (error && !NO_SUCH.has(error.code ?? ""));
        resolve(isFault ? "unknown" : exists ? "valid" : "invalid");
      });
    });
};

type EmailCheck = (address: string, options: { from: string }) => Promise<boolean>;
const openEmailCheck = (): AskPeer => {
  const check = require("email-check") as EmailCheck;
  return async (address) => {
    try {
      const exists = await check(address, { from: "probe@probe.example.org" });
      return exists ? "valid" : "invalid";
    } catch {
      // It throws where a server refuses the client.
      return "unknown";
    }
  };
};

const PEERS: Readonly<Record<string, () => AskPeer>> = {
  "deep-email-validator": openDeepEmailValidator,
  "email-deep-validator": openEmailDeepValidator,
  "email-verify": openEmailVerify,
  "email-existence": openEmailExistence,
};

/** Those whose speed is compared: npm packages, in a process like ours. */
export const peerNames = Object.keys(PEERS);

/** Those whose verdicts are compared. */
const MORE_PEERS: Readonly<Record<string, (labAddress: LabAddress) => AskPeer>> = {
  "email-check": openEmailCheck,
  [REACHER]: openReacher,
};

const AFTERSHIP = "AfterShip/email-verifier";

export const receiverPeerNames = [...peerNames, ...Object.keys(MORE_PEERS), AFTERSHIP];

export const openPeer = (name: string, labAddress: LabAddress): AskPeer => {
  const open = PEERS[name] ?? MORE_PEERS[name];
  if (!open) throw new Error(`There is no peer ${name}.`);
  return open(labAddress);
};

/** Whether it asks no other name server than one on port 53. */
export const requiresPort53 = (name: string): boolean => name === REACHER;

/** Why a peer cannot be measured here, or null. */
export const findObstacle = (name: string): string | null => {
  if (name === REACHER) return findReacherObstacle();
  if (name === AFTERSHIP) return "its Go module could not be installed";
  return isInstalled(name) ? null : "not installed: npm install --prefix bench";
};

/** Whether `npm install --prefix bench` was done. */
export const isInstalled = (name: string): boolean => {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
};

/** The suites `dynamodb-local` and `moto` run what stands on AWS once more, each over another emulator. */
export type Emulator = "dynamodb-local" | "moto";

/** Undefined: those that npm ships, dynoxide and fauxqs. */
export const EMULATOR = process.env["MAILPROOF_EMULATOR"] as Emulator | undefined;

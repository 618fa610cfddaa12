/** npm run test:third-party runs the suites over AWS once more, each time over another emulator. */
export type Emulator = "dynamodb-local" | "moto";

/** Undefined: those that npm ships, dynoxide and fauxqs. */
export const EMULATOR = process.env["MAILPROOF_EMULATOR"] as Emulator | undefined;

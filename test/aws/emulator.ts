/** The suite `moto` runs what stands on AWS once more, over moto instead of the emulators of npm, dynoxide and fauxqs. */
export const isOverMoto = process.env["MAILPROOF_EMULATOR"] === "moto";

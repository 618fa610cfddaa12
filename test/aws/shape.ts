/** The suite `aws`: the stories run over DynamoDB, SQS, S3 and Lambda handlers, and in memory otherwise. */
export const isAwsShaped = process.env["MAILPROOF_STORIES"] === "aws";

/** The suite `moto` runs what stands on AWS once more, over moto instead of the emulators of npm, dynoxide and fauxqs. */
export const isOverMoto = process.env["MAILPROOF_EMULATOR"] === "moto";

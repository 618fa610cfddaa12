/** The suite `aws`: the stories run over DynamoDB, SQS, S3 and Lambda handlers, and in memory otherwise. */
export const isAwsShaped = process.env["MAILPROOF_STORIES"] === "aws";

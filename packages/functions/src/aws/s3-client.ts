import { S3Client } from "@aws-sdk/client-s3";
import { AWS_TIMEOUT_MS, type Aws, createClientOptions, withClock } from "./requests.ts";

const TIMEOUT_MS = 5_000;

export const createS3Client = (aws: Aws): S3Client => {
  const options = createClientOptions(aws, "s3", ({ body, headers }) =>
    // Sending or copying a part takes a while.
    body === undefined && !("x-amz-copy-source" in headers) ? TIMEOUT_MS : AWS_TIMEOUT_MS,
  );
  return withClock(
    aws,
    new S3Client({
      ...options,
      // An emulator has no host names of its own for buckets.
      forcePathStyle: aws.endpoints.s3 !== undefined,
      // TLS and the signature protect the bytes; a link with a checksum would not accept a plain `curl -T`.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    }),
  );
};

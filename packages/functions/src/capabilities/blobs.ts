import type { Blobs } from "@mailproof/core/ports/blobs";
import { createS3Blobs } from "../aws/s3-blobs.ts";
import { type Capability, createMissingPort } from "../lambda-world.ts";

/** For an endpoint that needs "blobs:read" or "blobs:write", and the workers that read or remove files. */
export const withBlobs: Capability = ({ aws, environment: { BUCKET_NAME } }) => ({
  blobs: BUCKET_NAME
    ? createS3Blobs(aws, BUCKET_NAME)
    : createMissingPort<Blobs>("The setting BUCKET_NAME is missing."),
});

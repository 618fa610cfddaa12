import { FILE_BYTES_MAX } from "@mailproof/core/intake/uploads";
import type { Log } from "@mailproof/core/ports/world";
import type { S3Event } from "aws-lambda";
import type { RemoveVersion } from "./aws/s3-versions.ts";
import { createChain, hideCause } from "./chain.ts";
import { createLambdaLog } from "./log.ts";

/**
 * The whole Lambda that S3 calls after each upload. S3 cannot refuse a PUT whose size was not declared, so what is over
 * the limit is removed as soon as it is stored (docs/design/list-files.md). The event names the version: a later upload under
 * the same key is another one, and stays. A call may be repeated or come late.
 */
export const createUploadLimitHandler = (
  removeVersion: RemoveVersion,
  log: Log = createLambdaLog(),
) =>
  createChain<S3Event, void>([hideCause(log, "upload_limit_failed")]).handler(
    async ({ Records }) => {
      for (const { s3 } of Records) {
        const { key: encodedKey, size, versionId } = s3.object;
        if (size <= FILE_BYTES_MAX) continue;
        if (!versionId) throw new Error("the bucket keeps no versions");
        const key = decodeKey(encodedKey);
        await removeVersion(key, versionId);
        log("upload_removed", { account: key.split("/").at(-2), bytes: size });
      }
    },
  );

/** Keys in events of S3 are encoded as the fields of a form. */
const decodeKey = (encoded: string): string => decodeURIComponent(encoded.replaceAll("+", " "));

import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { assertBlobKey } from "@mailproof/core/ports/blobs";
import { type Aws, requireOk, retryAwsCall, toReply } from "./requests.ts";
import { createS3Client } from "./s3-client.ts";

/** Removes this version of the object for good; S3 does the same again for a version that is gone. */
export type RemoveVersion = (key: string, versionId: string) => Promise<void>;

/** Without a version, S3 would hide whatever is the object by now, and keep its bytes. */
export const createVersionRemover = (aws: Aws, bucket: string): RemoveVersion => {
  const s3 = createS3Client(aws);
  return async (key, versionId) => {
    assertBlobKey(key);
    const object = { Bucket: bucket, Key: key, VersionId: versionId };
    const { reply } = await retryAwsCall(aws, 2, () =>
      toReply(s3.send(new DeleteObjectCommand(object))),
    );
    requireOk("DELETE", reply);
  };
};

import { createLambdaAws } from "../aws/lambda-aws.ts";
import { createVersionRemover } from "../aws/s3-versions.ts";
import { requireSetting } from "../settings.ts";
import { createUploadLimitHandler } from "../upload-limit.ts";

export const handler = createUploadLimitHandler((key, versionId) =>
  createVersionRemover(createLambdaAws(process.env), requireSetting(process.env, "BUCKET_NAME"))(
    key,
    versionId,
  ),
);

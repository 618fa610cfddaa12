import { createLambda } from "./functions.ts";
import { bucket } from "./storage.ts";
import { UPLOADS, uploadLimit } from "./topology.ts";

/** S3 stores uploads of any size; this Lambda removes an upload over the limit. AWS repeats a failed call twice. */
export const uploadLimitLambda = { lambda: uploadLimit, made: createLambda(uploadLimit) };

bucket.notify({
  notifications: [
    {
      name: uploadLimit.name,
      function: uploadLimitLambda.made.arn,
      events: ["s3:ObjectCreated:*"],
      filterPrefix: UPLOADS,
    },
  ],
});

import { createLambda } from "./functions.ts";
import { bucket } from "./storage.ts";
import { UPLOADS, uploadLimit } from "./topology.ts";

/** S3 stores an upload of any size; this removes one that is over the limit. A failed call is repeated twice. */
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

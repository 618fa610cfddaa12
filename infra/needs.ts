import type { Need as EndpointNeed } from "@mailproof/api/endpoint";

/** What a Lambda reaches for. To what endpoints declare, the deployment adds the reading of a queue. */
export type Need = EndpointNeed | "queue:receive";

/** A part of the deployment that an action is allowed on. */
export type Part =
  | "table"
  | "indexes"
  | "queues"
  | "dead letters"
  | "own queue"
  | "bucket"
  | "objects"
  | "prober";

export type Grant = { readonly actions: readonly string[]; readonly on: readonly Part[] };

const READ: readonly Grant[] = [
  { actions: ["dynamodb:GetItem"], on: ["table"] },
  { actions: ["dynamodb:Query"], on: ["table", "indexes"] },
];
/** A transaction needs no action of its own: it is allowed what its writes are. */
const WRITE: Grant = {
  actions: [
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
  ],
  on: ["table"],
};
/** Without being allowed to list, S3 answers 403 where there is nothing, and absent could not be told from forbidden. */
const SEE: Grant = { actions: ["s3:ListBucket"], on: ["bucket"] };

/** The whole of what may be done on AWS, and by whom. What is not here is refused. */
export const GRANTS: Readonly<Record<Need, readonly Grant[]>> = {
  "table:read": READ,
  "table:readwrite": [...READ, WRITE],
  "queue:send": [{ actions: ["sqs:SendMessage"], on: ["queues"] }],
  "queue:depth": [{ actions: ["sqs:GetQueueAttributes"], on: ["dead letters"] }],
  "queue:receive": [
    {
      actions: [
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
      ],
      on: ["own queue"],
    },
  ],
  "blobs:read": [{ actions: ["s3:GetObject"], on: ["objects"] }, SEE],
  "blobs:write": [
    { actions: ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"], on: ["objects"] },
  ],
  // Sessions with mail servers are held in the VPC, behind fixed addresses; everybody else asks for them.
  mail: [{ actions: ["lambda:InvokeFunction"], on: ["prober"] }],
  // Name servers are asked over the internet, and not by permission of AWS.
  dns: [],
};

/** Every grant once, whichever of the needs it comes from. */
export const grantsFor = (needs: readonly Need[]): readonly Grant[] => [
  ...new Set(needs.flatMap((need) => GRANTS[need])),
];

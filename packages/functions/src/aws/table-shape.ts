import { INDEXES } from "@mailproof/core/ports/table";

/** The one table as DynamoDB has to have it: whoever deploys it, and every test, reads it here. */
export const TABLE_SHAPE = {
  pk: "pk",
  sk: "sk",
  /** Deleting is AWS's own affair and up to days late: no read finds what is over. */
  ttl: "expires_at",
  /** With whole items: a list is told from its index alone. */
  indexes: INDEXES,
} as const;

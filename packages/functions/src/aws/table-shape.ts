import { INDEXES } from "@mailproof/core/ports/table";

/** The definition of the one table, read by the deployment and by every test. */
export const TABLE_SHAPE = {
  pk: "pk",
  sk: "sk",
  /** AWS deletes expired items up to days late; no read returns them. */
  ttl: "expires_at",
  /** With whole items: a list is read only from its index. */
  indexes: INDEXES,
} as const;

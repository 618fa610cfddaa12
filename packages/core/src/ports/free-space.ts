/** The free bytes on the disk of the state. Null when the number is unknown, or AWS provides the storage. */
export type ReadFreeBytes = () => number | null;

export const FREE_BYTES = {
  /** Below this the checklist and the alarm warn, while there is time to act. */
  enough: 5_000_000_000,
  /** Uploads must leave this for the table, its log and the results of accepted lists. */
  forUploads: 1_000_000_000,
  /** Below this the service refuses all new paid work, so that accepted lists can end. */
  forWork: 100_000_000,
} as const;

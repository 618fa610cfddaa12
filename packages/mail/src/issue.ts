export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** A rule's finding in a domain's records. `costPoints` reduce the component's own score of 0 to 100. */
export type Issue = {
  readonly id: string;
  readonly severity: Severity;
  /** The text for people: the fault and its remedy. */
  readonly message: string;
  /** The data for programs: the host, the term or the number in the message. */
  readonly detail: Readonly<Record<string, string | number>>;
  readonly costPoints: number;
};

/** Sorts the most severe issue first, and of two with the same severity the one that costs more. */
export const compareGravity = (
  a: Pick<Issue, "severity" | "costPoints">,
  b: Pick<Issue, "severity" | "costPoints">,
): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.costPoints - a.costPoints;

/** How much a finding matters, gravest first. */
export const SEVERITIES = ["critical", "high", "medium", "low", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** What a rule found in what a domain publishes. `costPoints` are lost inside the component's own 0 to 100. */
export type Issue = {
  readonly id: string;
  readonly severity: Severity;
  /** For people: what is so, and what to do about it. */
  readonly message: string;
  /** For programs: the host, the term, the number the rule speaks of. */
  readonly detail: Readonly<Record<string, string | number>>;
  readonly costPoints: number;
};

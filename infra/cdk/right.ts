export type Right = {
  /** The types of resources in SST's and CDK's output that need the right, or another step of a deployment in words. */
  readonly for: readonly string[];
  readonly actions: readonly string[];
  /** ARNs after "arn:aws:". "*" stands where AWS gives the name, or where an action is about no single resource. */
  readonly on: readonly string[];
  readonly when?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
};

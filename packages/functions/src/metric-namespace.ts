// Where the metrics of core/background/metric-names.ts are in CloudWatch. infra/cdk reads them there.

export const NAMESPACE = "Mailproof";

/** App and stage, POWERTOOLS_SERVICE_NAME: this dimension of every metric separates two stages of an account. */
export const SERVICE_DIMENSION = "service";

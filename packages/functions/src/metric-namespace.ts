// Where the metrics of core/background/metric-names.ts are in CloudWatch. infra/cdk reads them there.

export const NAMESPACE = "Mailproof";

/** App and stage, POWERTOOLS_SERVICE_NAME: it keeps two stages of an account apart. Every metric has this dimension. */
export const SERVICE_DIMENSION = "service";

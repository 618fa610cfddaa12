/** The SSM parameter under which a stage publishes a name and the monitoring stack reads it. */
export const createParameterNamer = (app: string, stage: string) => (key: string) =>
  `/${app}/${stage}/${key}`;

/** The service of a stage's log lines and metrics. */
export const toServiceName = (app: string, stage: string): string => `${app}-${stage}`;

/** The role that deploys from GitHub. It may change roles whose names begin with the app's, so its own name must not. */
export const toDeployerName = (app: string): string => `deploy-${app}`;

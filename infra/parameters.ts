/** The SSM parameter under which a stage publishes a name and the monitoring stack reads it. */
export const createParameterNamer = (app: string, stage: string) => (key: string) =>
  `/${app}/${stage}/${key}`;

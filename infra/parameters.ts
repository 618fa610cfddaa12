/** Under what a stage writes down a name of its own, and who watches over it looks. */
export const createParameterNamer = (app: string, stage: string) => (key: string) =>
  `/${app}/${stage}/${key}`;

export type Example = {
  readonly route: string;
  readonly name: string;
  readonly title: string;
  readonly request?: unknown;
  readonly status: number;
  readonly answer: unknown;
};

export const EXAMPLES: readonly Example[] = [];

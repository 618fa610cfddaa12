// Whether IAM allows something, as far as the policies of infra/cdk/pipeline.ts go: they only allow, and ask for few conditions.

export type PolicyStatement = {
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | string[]>>>>;
};

type Request = {
  readonly action: string;
  readonly on: string;
  /** What AWS knows of the request, by the key of a condition. */
  readonly known?: Readonly<Record<string, string>>;
};

const listOf = (one: string | readonly string[]): readonly string[] => [one].flat();

const isLike = (pattern: string, value: string): boolean =>
  new RegExp(`^${pattern.split("*").map(escape).join(".*")}$`, "i").test(value);

const escape = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");

const holds = ({ Condition: conditions = {} }: PolicyStatement, { known = {} }: Request): boolean =>
  Object.entries(conditions).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => {
      const value = known[key];
      if (value === undefined) return false;
      if (operator === "StringEquals") return listOf(wanted).includes(value);
      if (operator === "StringLike" || operator === "ArnLike")
        return listOf(wanted).some((one) => isLike(one, value));
      throw new Error(`test/infra/iam.ts does not know ${operator}.`);
    }),
  );

export const isAllowed = (statements: readonly PolicyStatement[], request: Request): boolean =>
  statements.some(
    (statement) =>
      listOf(statement.Action).some((one) => isLike(one, request.action)) &&
      listOf(statement.Resource).some((one) => isLike(one, request.on)) &&
      holds(statement, request),
  );

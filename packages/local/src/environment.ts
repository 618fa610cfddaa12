import * as v from "valibot";

const Port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, "must be a number from 0 to 65535"),
  v.transform(Number),
  v.maxValue(65_535, "must be a number from 0 to 65535"),
);
const Secret = v.pipe(v.string(), v.minLength(16, "must have at least 16 characters"));

// The README's table of settings says the same, and test/architecture holds the two together.
const Environment = v.object({
  PORT: v.optional(Port, "8787"),
  MAILPROOF_DIR: v.optional(v.pipe(v.string(), v.minLength(1, "must not be empty")), ".local"),
  KEY_PEPPER: v.optional(Secret),
});

export type Environment = v.InferOutput<typeof Environment>;

export const SETTINGS = Object.keys(Environment.entries);

/** What the operator set, or one clear sentence per setting that is wrong. */
export const readEnvironment = (env: Readonly<Record<string, string | undefined>>): Environment => {
  const parsed = v.safeParse(Environment, env);
  if (parsed.success) return parsed.output;
  const wrong = parsed.issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`);
  throw new Error(`These settings are wrong: ${wrong.join("; ")}.`);
};

import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";

type PromptDefinition = Prompt & {
  readonly write: (values: Readonly<Record<string, string>>) => string;
};

const DEFINITIONS: readonly PromptDefinition[] = [
  {
    name: "clean_list",
    title: "Clean a list of addresses",
    description:
      "Verifies a list, and says which addresses to keep, to remove, and to look at again.",
    arguments: [
      {
        name: "addresses",
        description: "The addresses, one a line or with commas.",
        required: true,
      },
      { name: "purpose", description: "What the list is for, such as a newsletter." },
    ],
    write: ({ addresses = "", purpose }) =>
      `Clean this list of email addresses${purpose ? ` for ${purpose}` : ""}.

1. Call get_account, and say what the list costs: a credit for each different address. Stop and ask if the balance is too low.
2. Call verify_batch with all addresses, up to 10,000 at a time, and an idempotency_key of your own. If you get no response, repeat the call with the same key: it is charged once.
3. Call get_job with the job_id and include_results false until status is completed, with growing pauses. Rows that are deferred may take 40 minutes; cancel_job ends the job early and refunds them.
4. Read the results with get_job and its cursor, and sort them:
   - keep: valid
   - remove: invalid, disposable, spam_trap
   - decide with the person: risky, catch_all, role
   - verify again tomorrow: unknown. It says nothing about the address.
5. Answer with the number in each group, the addresses to remove with their reasons, likely corrections from did_you_mean, and the credits that were used.

The addresses:

${addresses}`,
  },
];

export const listPrompts = (): readonly Prompt[] =>
  DEFINITIONS.map(({ name, title = name, description = "", arguments: values = [] }) => ({
    name,
    title,
    description,
    arguments: values,
  }));

export const getPrompt = (
  name: string,
  values: Readonly<Record<string, string>> = {},
): GetPromptResult => {
  const found = DEFINITIONS.find((one) => one.name === name);
  const missing = found?.arguments?.find((one) => one.required && !values[one.name]?.trim());
  if (!found || missing)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      missing ? `${missing.name} is required.` : `Unknown prompt ${JSON.stringify(name)}.`,
    );
  const { description = "", write } = found;
  return {
    description,
    messages: [{ role: "user", content: { type: "text", text: write(values) } }],
  };
};

import { getFailureMessage, getStatus } from "@mailproof/api/http/http-failure";
import { ERRORS } from "@mailproof/api/openapi/errors";
import { createClient } from "@mailproof/client/client";
import { Failure } from "@mailproof/core/lib/failure";
import { formatError } from "@mailproof/local/cli/run-command";
import { describe, expect, test } from "vitest";

// What the command line prints about the money is what the service answered, for each code and each outcome of it.

const ANSWERS = Object.values(ERRORS).flatMap(({ money, example }) =>
  money.map((outcome) => ({ code: example.code, outcome, example })),
);

const refuseWith = ({ example, outcome }: (typeof ANSWERS)[number]) => {
  const { code, what, details } = example;
  const failure = new Failure(code, outcome, what, details === undefined ? {} : { details });
  const body = {
    code,
    message: getFailureMessage(failure),
    money: outcome,
    doc_url: `https://api.example.com/docs/errors#${code}`,
  };
  return { status: getStatus(failure), body };
};

const findError = async ({ status, body }: ReturnType<typeof refuseWith>) => {
  const answer = async () => Response.json({ success: false, error: body }, { status });
  const client = createClient({
    baseUrl: "https://api.example.com",
    key: "k",
    retries: 0,
    fetch: answer,
  });
  return client.verifyEmail({ email: "ann@example.com" }).then(
    () => undefined,
    (error: unknown) => error,
  );
};

describe.each(ANSWERS)("the command line with $code and $outcome", (answer) => {
  test("prints the service's statement about the money, and no other", async () => {
    const refused = refuseWith(answer);

    const printed = formatError(await findError(refused));

    const [statement, ...more] = printed.split("\n");
    expect(statement).toBe(refused.body.message);
    expect(more.length).toBe(answer.outcome === "retry_same_key" ? 1 : 0);
  });
});

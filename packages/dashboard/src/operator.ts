import { MailproofError } from "@mailproof/client";
import { API_URL } from "./base.ts";

// Calls the operator's routes (docs/operating.md): the commands of `mailproof admin` on this page's server. The API's client has no method
// for them, because they are not part of the service.

export const isOperatorKey = (key: string): boolean => key.startsWith("mp_operator_");

export type Options = Readonly<Record<string, string | boolean>>;

type Body = {
  readonly data?: unknown;
  readonly error?: { readonly message: string };
};

/** Returns the command's output. The caller chooses the type: docs/command-line.md has the commands. */
export const sendCommand = async <T>(
  key: string,
  command: string,
  options: Options = {},
  signal: AbortSignal | null = null,
): Promise<T> => {
  const response = await fetch(`${API_URL}/v1/operator/${command}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(options),
    signal,
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw createFailure("ABORTED", "The command was aborted.", { cause });
    throw createFailure("NETWORK", "The server cannot be reached.", { cause });
  });
  const body = (await response.json().catch(() => ({}))) as Body;
  if (response.ok) return body.data as T;
  const message = body.error?.message ?? `The server responded with status ${response.status}.`;
  throw createFailure("UNREADABLE", message, {
    status: response.status,
    requestId: response.headers.get("x-request-id") ?? undefined,
  });
};

type Fields = Omit<ConstructorParameters<typeof MailproofError>[1], "code" | "money">;

const createFailure = (
  code: "ABORTED" | "NETWORK" | "UNREADABLE",
  message: string,
  fields: Fields,
): MailproofError => new MailproofError(message, { code, money: "unknown", ...fields });

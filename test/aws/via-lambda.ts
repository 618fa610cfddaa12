import type { Endpoint } from "@mailproof/api/http/endpoint";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import type { lambda } from "@mailproof/functions/lambda";
import { toBytes, toEvent, toHeaders, type WireRequest } from "../../infra/gateway-event.ts";
import { createContext } from "./events.ts";

/** Through the Lambda of this endpoint, called as API Gateway calls it. */
export const sendViaLambda = async (
  handler: ReturnType<typeof lambda>,
  endpoint: Endpoint,
  sent: WireRequest,
): Promise<HttpAnswer> => {
  const response = await handler(toEvent(sent, [endpoint]), createContext());
  const { statusCode = 0, isBase64Encoded } = response;
  const all = toHeaders(response);
  // API Gateway decodes a body before the caller has it; a large JSON text is sent as base64, too.
  const isText = !isBase64Encoded || String(all["content-type"]).startsWith("application/json");
  if (isText) return { statusCode, headers: all, body: toBytes(response).toString() };
  const stream = (async function* () {
    yield toBytes(response);
  })();
  return { statusCode, headers: all, body: { stream, elsewhere: async () => "" } };
};

type Parts = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly clientIp?: string | undefined;
};

/** A value as it stands on the wire; bytes are sent as they are. */
export const toWireRequest = ({
  method,
  path,
  query,
  headers,
  body,
  clientIp,
}: Parts): WireRequest => {
  const search = new URLSearchParams(query).toString();
  return {
    method,
    url: search === "" ? path : `${path}?${search}`,
    headers: Object.entries(headers),
    clientIp,
    ...(body !== undefined && { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
  };
};

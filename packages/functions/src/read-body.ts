import {
  assertCheapJson,
  assertJsonType,
  bodyTooLarge,
  decodeJson,
  malformedJson,
} from "@mailproof/api/http/body";
import middy from "@middy/core";
import jsonBodyParser from "@middy/http-json-body-parser";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";

/**
 * A chain of its own, which `respond` runs once the key is known. In the Lambda's chain the parser would read a body
 * before that, and a request without a key would get an error about its JSON. Our API has checked the type, and its
 * 400 replaces the parser's 415 and 422.
 */
const parseBody = middy<APIGatewayProxyEventV2, unknown>()
  .use(jsonBodyParser({ disableContentTypeCheck: true }))
  .onError((request) => {
    request.error = malformedJson(request.error);
  })
  .handler(({ body }: { readonly body?: unknown }) => body);

/** The parsed body of at most this many bytes; undefined when nothing was sent. */
export const readBody = async (
  event: APIGatewayProxyEventV2,
  context: Context,
  bytesMax: number,
): Promise<unknown> => {
  const { body, isBase64Encoded, headers } = event;
  if (!body) return undefined;
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > bytesMax) throw bodyTooLarge(bytesMax);
  assertJsonType(headers["content-type"]);
  assertCheapJson(bytes);
  // The parser writes into its argument, the event.
  return parseBody({ ...event, body: decodeJson(bytes), isBase64Encoded: false }, context);
};

import { LAMBDA_BYTES_MAX } from "@mailproof/api/http/body";
import type { Streamed } from "@mailproof/api/http/endpoint";
import { closeStream, type HttpAnswer } from "@mailproof/api/http/respond";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** In the JSON of a Lambda's result a quote needs two bytes, so a longer text is sent as base64: four bytes for three. */
const PLAIN_CHARACTERS_MAX = 1_000_000;

/** Lambda's types require mutable headers. Cookies have a field of their own. */
export const toResult = ({
  headers: { "set-cookie": cookie, ...headers },
  body,
  ...answer
}: HttpAnswer<string>): APIGatewayProxyStructuredResultV2 => {
  const result = { ...answer, headers, ...(cookie !== undefined && { cookies: [cookie] }) };
  if (body.length <= PLAIN_CHARACTERS_MAX) return { ...result, body };
  const bytes = Buffer.from(body);
  // Otherwise API Gateway answers 502 without our envelope.
  if (bytes.length > LAMBDA_BYTES_MAX)
    throw new Error(`a response has ${bytes.length} bytes, more than a Lambda returns`);
  return { ...result, body: bytes.toString("base64"), isBase64Encoded: true };
};

/** Lambda returns whole responses only. A longer one is stored as a blob, and the caller is redirected to it. */
export const bufferResponse = async ({
  statusCode,
  headers,
  body,
}: HttpAnswer): Promise<APIGatewayProxyStructuredResultV2> => {
  if (typeof body === "string") return toResult({ statusCode, headers, body });
  const collected = await collect(body.stream);
  if (collected)
    return {
      statusCode,
      headers: { ...headers },
      body: collected.toString("base64"),
      isBase64Encoded: true,
    };
  const { "content-type": _type, "content-length": _length, ...others } = headers;
  return { statusCode: 303, headers: { ...others, location: await body.elsewhere() }, body: "" };
};

/** The response to HEAD. */
export const toHeadResult = async ({
  body,
  ...answer
}: HttpAnswer): Promise<APIGatewayProxyStructuredResultV2> => {
  if (typeof body !== "string") await closeStream(body.stream);
  return toResult({ ...answer, body: "" });
};

/** Null when the content exceeds the limit of a response; the source is then closed. */
const collect = async (stream: Streamed["stream"]): Promise<Buffer | null> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    const one = typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece);
    bytes += one.length;
    if (bytes > LAMBDA_BYTES_MAX) return null;
    pieces.push(one);
  }
  return Buffer.concat(pieces);
};

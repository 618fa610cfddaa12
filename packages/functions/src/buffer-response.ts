import { closeStream } from "@mailproof/api/http/close-stream";
import type { Streamed } from "@mailproof/api/http/endpoint";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** Lambda answers with at most 6 MB of JSON. As base64 this many bytes always fit, whatever they are. */
export const RESPONSE_BYTES_MAX = 4_500_000;

/** The types of Lambda want headers of which the answer is the owner. */
export const toResult = ({
  headers,
  ...answer
}: HttpAnswer<string>): APIGatewayProxyStructuredResultV2 => ({
  ...answer,
  headers: { ...headers },
});

/** Lambda hands over whole answers only. One that grows too long is put elsewhere, and the caller sent there. */
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

/** The answer to HEAD. */
export const toHeadResult = async ({
  body,
  ...answer
}: HttpAnswer): Promise<APIGatewayProxyStructuredResultV2> => {
  if (typeof body !== "string") await closeStream(body.stream);
  return toResult({ ...answer, body: "" });
};

/** Null, and the source is closed, when there is more than an answer may have. */
const collect = async (stream: Streamed["stream"]): Promise<Buffer | null> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    const one = typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece);
    bytes += one.length;
    if (bytes > RESPONSE_BYTES_MAX) return null;
    pieces.push(one);
  }
  return Buffer.concat(pieces);
};

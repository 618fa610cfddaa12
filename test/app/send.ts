import { assertJsonType } from "@mailproof/api/http/body";
import { asFailure, type HttpAnswer, refuse } from "@mailproof/api/http/respond";
import { createRouter } from "@mailproof/api/http/router";
import type { AppWorld } from "@mailproof/core/app-world";
import { DOMAIN_NAME } from "../../infra/gateway-event.ts";
import { isAwsShaped } from "../aws/shape.ts";
import { sendViaLambda, toWireRequest } from "../aws/via-lambda.ts";
import { encodeForm, type FormPart, splitAt } from "./form.ts";
import { CURRENT, type Release } from "./release.ts";

type Sent = {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly clientIp?: string;
  /** How the body arrives, where that is what the story is about. */
  readonly readBody?: () => Promise<unknown>;
  /** Sent as multipart/form-data, in the place of a body. */
  readonly form?: readonly FormPart[];
};

/** Any: a story looks at the parts it is about, and says itself what they should be. */
export type TestResponse = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came. All there is of a streamed one. */
  readonly text: string;
  readonly bytes: Buffer;
  readonly data: any;
  readonly error: any;
  readonly request_id: string;
};

/** The same on one machine as behind API Gateway. */
export const BASE_URL = `https://${DOMAIN_NAME}`;

export type Send = (world: AppWorld, what: string, sent?: Sent) => Promise<TestResponse>;

export const createSend = (release: Release): Send => {
  const respondTo = createRespond(release);
  return async (world, what, sent = {}) => readAnswer(await respondTo(world, what, sent));
};

const readAnswer = async ({ statusCode, headers, body }: HttpAnswer): Promise<TestResponse> => {
  const isWhole = typeof body === "string";
  const bytes = isWhole ? Buffer.from(body) : await getBytes(body.stream);
  const text = bytes.toString();
  const response = (isWhole ? JSON.parse(text) : {}) as Pick<
    TestResponse,
    "data" | "error" | "request_id"
  >;
  return { statusCode, headers, text, bytes, ...response };
};

const createRespond = ({ endpoints, respond, lambda }: Release) => {
  const route = createRouter(endpoints);
  return async (world: AppWorld, what: string, sent: Sent): Promise<HttpAnswer> => {
    const [method = "", rawPath = ""] = what.split(" ");
    const id = world.newId("req");
    try {
      const { endpoint, path } = route(method, rawPath);
      const { query = {}, key } = sent;
      const form = sent.form && (await encodeForm(sent.form));
      const type = form && { "content-type": form.contentType };
      const headers = { ...sent.headers, ...type, ...(key && { "x-api-key": key }) };
      if (isAwsShaped && !sent.readBody) {
        const body = form?.bytes ?? sent.body;
        const wire = toWireRequest({
          method,
          path: rawPath,
          query,
          headers,
          body,
          clientIp: sent.clientIp,
        });
        return await sendViaLambda(lambda(endpoint, world), endpoint, wire);
      }
      return await respond(world, endpoint, {
        id,
        baseUrl: BASE_URL,
        headers,
        path,
        query,
        clientIp: sent.clientIp,
        body: async () => {
          if (form) assertJsonType(form.contentType);
          return sent.readBody ? sent.readBody() : sent.body;
        },
        bytes: () => splitAt(form?.bytes ?? new Uint8Array(), []),
      });
    } catch (error) {
      return refuse(world, { id, baseUrl: BASE_URL }, asFailure(error, "nothing_charged"));
    }
  };
};

/** One request along the one path, without a socket: what a story is made of. */
export const send = createSend(CURRENT);

/** One address, under an Idempotency-Key or without one. */
export const whenVerified = (
  world: AppWorld,
  key: string,
  body: unknown,
  idempotencyKey?: string,
): Promise<TestResponse> =>
  send(world, "POST /v1/verify", {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });

/** One person, looked for at one domain. */
export const whenFound = (world: AppWorld, key: string, body: unknown): Promise<TestResponse> =>
  send(world, "POST /v1/find", { key, body });

const getBytes = async (stream: AsyncIterable<string | Uint8Array>): Promise<Buffer> => {
  const pieces = await Array.fromAsync(stream, (piece) =>
    typeof piece === "string" ? Buffer.from(piece) : piece,
  );
  return Buffer.concat(pieces);
};

/** One check, under an Idempotency-Key or without one. */
export const whenChecked = (
  world: AppWorld,
  key: string,
  body: unknown = { domain: "example.com" },
  idempotencyKey?: string,
): Promise<TestResponse> =>
  send(world, "POST /v1/deliverability/check", {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });

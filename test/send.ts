import { endpoints } from "@mailproof/api/endpoints";
import { asFailure, type HttpAnswer, refuse, respond } from "@mailproof/api/respond";
import { routerOf } from "@mailproof/api/routes";
import type { World } from "@mailproof/core/world";

const route = routerOf(endpoints);

type Sent = {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** How the body arrives, where that is what the story is about. */
  readonly readBody?: () => Promise<unknown>;
};

/** Any: a story looks at the parts it is about, and says itself what they should be. */
export type Told = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: any;
  readonly error: any;
  readonly request_id: string;
};

/** One request along the one path, without a socket: what a story is told in. */
export const send = async (world: World, what: string, sent: Sent = {}): Promise<Told> => {
  const { statusCode, headers, body } = await answer(world, what, sent);
  return {
    statusCode,
    headers,
    ...(JSON.parse(body) as Pick<Told, "data" | "error" | "request_id">),
  };
};

/** One address, under an Idempotency-Key or without one. */
export const whenVerified = (
  world: World,
  key: string,
  body: unknown,
  idempotencyKey?: string,
): Promise<Told> =>
  send(world, "POST /v1/verify", {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });

const answer = async (world: World, what: string, sent: Sent): Promise<HttpAnswer> => {
  const [method = "", rawPath = ""] = what.split(" ");
  const id = world.newId("req");
  try {
    const { endpoint, path } = route(method, rawPath);
    const { query = {}, key } = sent;
    const headers = { ...sent.headers, ...(key && { "x-api-key": key }) };
    return await respond(world, endpoint, {
      id,
      headers,
      path,
      query,
      body: sent.readBody ?? (async () => sent.body),
    });
  } catch (error) {
    return refuse(world, id, asFailure(error, "nothing_charged"));
  }
};

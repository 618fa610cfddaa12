import type { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Caller } from "@mailproof/api/http/endpoint";

/** A request whose response has ended, without anything that the client sent. */
export type FinishedRequest = {
  readonly id: string;
  /** The route as the documentation names it. Null: there is none, or the request ended before it was found. */
  readonly route: string | null;
  /** Null: the client hung up before a response. */
  readonly status: number | null;
  readonly ms: number;
  /** The id of the API key. Null: the caller is not known. */
  readonly key: string | null;
  readonly account: string | null;
  /** The response did not arrive as a whole. */
  readonly aborted: boolean;
};

export type OnRequest = (request: FinishedRequest) => void;

/** Filled in while the request is handled. */
export type RequestRecord = {
  readonly id: string;
  route: string | null;
  readonly onCaller: (caller: Caller) => void;
};

export const createRequestRecord = (
  id: string,
  outgoing: ServerResponse,
  onRequest: OnRequest,
): RequestRecord => {
  const startedAt = performance.now();
  let caller: Caller | undefined;
  const record: RequestRecord = {
    id,
    route: null,
    onCaller: (found) => {
      caller = found;
    },
  };
  // It closes once, after a complete response as after a broken connection.
  outgoing.once("close", () =>
    onRequest({
      id,
      route: record.route,
      status: outgoing.headersSent ? outgoing.statusCode : null,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      key: caller?.keyId ?? null,
      account: caller?.account ?? null,
      aborted: !outgoing.writableFinished,
    }),
  );
  return record;
};

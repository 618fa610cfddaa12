import type { ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { Caller } from "@mailproof/api/http/endpoint";

/** A request whose response has ended, without anything that the client sent. */
export type FinishedRequest = {
  readonly id: string;
  /** The route in the words of the documentation. Null when no route matches or the request ended earlier. */
  readonly route: string | null;
  /** Null when the client hung up before the response. */
  readonly status: number | null;
  readonly ms: number;
  /** The id of the API key; null when the caller is unknown. */
  readonly key: string | null;
  readonly account: string | null;
  /** True when the client did not get the whole response. */
  readonly aborted: boolean;
};

export type OnRequest = (request: FinishedRequest) => void;

/** The handlers fill in these fields. */
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
  // "close" is emitted once, after a complete response and after a broken connection.
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

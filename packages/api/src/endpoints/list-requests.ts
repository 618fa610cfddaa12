import { getOwnerId } from "@mailproof/core/money/payer";
import type { RequestEntry } from "@mailproof/core/requests/items";
import {
  type RequestPosition,
  listRequests as readRequests,
} from "@mailproof/core/requests/list-requests";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { STATUS_CLASSES, type StatusClass } from "../http/status-class.ts";
import { describe, limitCharacters, noControls } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { createLimit, Offset, PAGE_END, readOffset, toPageEnd } from "../schema/paging.ts";

const LIMIT = { default: 50, most: 200 };
const ROUTE_LENGTH_MAX = 100;
const KEY_ID_LENGTH_MAX = 64;

const createPart = (most: number) => v.pipe(v.string(), limitCharacters(most), noControls);

const RequestSummary = v.object({
  request_id: field.text("The request's id, as in `X-Request-Id`."),
  at: field.text("When the response was sent, ISO 8601."),
  method: field.text("HTTP method."),
  route: field.text("Path as this document names it, such as `/v1/jobs/{id}`."),
  status: field.count("HTTP status of the response."),
  duration_ms: field.count("Milliseconds until the response."),
  key_id: field.text("The key that sent it, or the person who was signed in."),
  error_code: field.textOrNull("`error.code` of the response. Null after success."),
});

const toSummary = (entry: RequestEntry): v.InferOutput<typeof RequestSummary> => {
  const [method = "", route = ""] = entry.route.split(" ");
  return {
    request_id: entry.id,
    at: entry.at,
    method,
    route,
    status: entry.status,
    duration_ms: entry.ms,
    key_id: entry.keyId,
    error_code: entry.code,
  };
};

type Filter = {
  readonly status?: StatusClass | undefined;
  readonly route?: string | undefined;
  readonly key_id?: string | undefined;
  readonly q?: string | undefined;
};

/** Without key and text, the words equal those of the last release, so its cursors are still valid. */
const toCursorWords = ({ status, route, key_id: keyId, q }: Filter): string =>
  `${status ?? "all"} ${route ?? "all"}${keyId === undefined && q === undefined ? "" : JSON.stringify([keyId, q])}`;

const toPredicate = ({ status, route, key_id: keyId, q }: Filter) => {
  const text = q?.toLowerCase();
  return (entry: RequestEntry): boolean =>
    (status === undefined || String(entry.status)[0] === status[0]) &&
    (route === undefined || entry.route === route) &&
    (keyId === undefined || entry.keyId === keyId) &&
    (text === undefined ||
      [entry.id, entry.route, entry.code ?? ""].some((part) => part.toLowerCase().includes(text)));
};

export const listRequests = endpoint({
  id: "listRequests",
  route: "GET /v1/requests",
  tag: "Account",
  addition: "Shows an account its own requests, so that a failed one is found by its id.",
  summary:
    "List the account's own requests of the last 7 days, newest first, without successful reads.",
  access: "account:read",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: it helps a person to debug a program, and each tool's description costs tokens in every conversation.
  tool: null,

  query: v.strictObject({
    limit: createLimit("requests", LIMIT),
    status: describe(
      v.optional(v.picklist(STATUS_CLASSES, `must be one of ${STATUS_CLASSES.join(", ")}`)),
      "Only responses of this class.",
    ),
    route: describe(
      v.optional(createPart(ROUTE_LENGTH_MAX)),
      "Only this method and path, such as `POST /v1/verify`.",
    ),
    key_id: describe(
      v.optional(createPart(KEY_ID_LENGTH_MAX)),
      "Only requests of this key or person.",
    ),
    q: describe(
      v.optional(createPart(ROUTE_LENGTH_MAX)),
      "Only requests whose id, method and path, or error code contains this text, in any case.",
    ),
    offset: Offset,
  }),
  output: v.object({
    requests: describe(v.array(RequestSummary), "The requests, newest first."),
    ...PAGE_END,
  }),

  async handle(world, caller, { query }) {
    const { limit, offset, ...filter } = query;
    const owner = getOwnerId(caller);
    const bound = `requests ${owner} ${toCursorWords(filter)}`;
    const after = readOffset<RequestPosition>(world, bound, offset);
    const { requests, next } = await readRequests(
      world.table,
      { owner, isWanted: toPredicate(filter) },
      { limit, after },
    );
    return ok({
      requests: requests.map(toSummary),
      ...toPageEnd(world, bound, next),
    });
  },
});

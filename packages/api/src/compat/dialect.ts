import type { Json } from "@mailproof/core/ports/table";
import { STATUSES, type Status } from "@mailproof/core/verify/result";
import type { Headers } from "../http/authenticate.ts";
import {
  assertCheapJson,
  assertJsonType,
  assertNotCompressed,
  BODY_BYTES_MAX,
  bodyTooLarge,
  decodeJson,
  parseJson,
} from "../http/body.ts";
import { invalidField, isObject } from "../http/parse.ts";
import { assertFewParameters } from "../http/query.ts";
import type { VerificationResult } from "../schema/verification.ts";

/** The facts of a result that vendors report. The defaults are those of a verification without a result. */
export const toFound = ({
  verification,
  flags,
  enrichment,
  ...result
}: Partial<VerificationResult> & Pick<VerificationResult, "email" | "status" | "reason">) => {
  const at = result.email.lastIndexOf("@");
  return {
    address: result.email,
    user: at < 0 ? result.email : result.email.slice(0, at),
    domain: at < 0 ? "" : result.email.slice(at + 1),
    status: result.status,
    reason: result.reason,
    /** 0–100. */
    score: result.quality_score ?? 50,
    syntaxValid: verification?.syntax_valid ?? true,
    domainExists: verification?.domain_exists ?? false,
    mxFound: verification?.mx_found ?? false,
    mailboxExists: verification?.mailbox_exists ?? false,
    catchAll: verification?.catch_all ?? false,
    disposable: flags?.disposable ?? false,
    role: flags?.role_account ?? false,
    free: flags?.free_provider ?? false,
    mailboxFull: [result.reason, result.sub_status].includes("mailbox_full"),
    didYouMean: result.ai?.typo_suggestion ?? null,
    firstName: enrichment?.first_name ?? null,
    lastName: enrichment?.last_name ?? null,
    provider: result.provider ?? null,
    mailHost: result.evidence?.mail_host ?? null,
    verifiedAt: result.verified_at ?? "",
  };
};

export type Found = ReturnType<typeof toFound>;

/** The reason of a verification that continues as a job: vendors answer like this when a mail server is slow. */
export const PENDING = "timeout";
/** The reason of a verification that failed on our side. */
export const OUR_FAILURE = "internal";

type JsonObject = Readonly<Record<string, Json>>;

/** The kinds of refusals that vendors distinguish, with the status of each where the vendor has no other. */
export const USUAL_STATUSES = {
  no_key: 401,
  wrong_key: 403,
  no_credits: 402,
  bad_request: 400,
  too_many_requests: 429,
  no_route: 404,
  wrong_method: 405,
  failed: 500,
} as const;
export type Fault = keyof typeof USUAL_STATUSES;

/** Facts beside the result: the whole credits that are left, if they are known, and the milliseconds of the request. */
export type Around = {
  readonly credits: number | undefined;
  readonly isLive: boolean;
  readonly ms: number;
};

export type Action = "verify" | "verifyMany" | "credits";

/** The parts of a vendor's API that its clients use. The routes, parameters, words and fields are the vendor's own. */
export type Dialect = {
  /** By the method and the path below /compat/{vendor}. */
  readonly routes: Readonly<Record<string, Action>>;
  /** The parameter with the key. Null when only headers contain the key. */
  readonly key: string | null;
  /** A header with the key, besides X-Api-Key and Authorization, which every dialect accepts. */
  readonly keyHeader?: string;
  readonly email: string;
  /** The unit of the parameter `timeout` in milliseconds. Absent when the vendor has no such parameter. */
  readonly timeoutUnitMs?: number;
  /** The wait of a call without a timeout. */
  readonly waitMs: number;
  readonly words: Readonly<Record<Status, string>>;
  readonly toResult: (found: Found, around: Around) => JsonObject;
  readonly toCredits?: (credits: number) => JsonObject;
  /** Set when a result states the credits that are left. */
  readonly showsCredits?: true;
  readonly toHeaders?: (around: Around) => Readonly<Record<string, string>>;
  /** The statuses that differ from USUAL_STATUSES. */
  readonly statuses?: Partial<Readonly<Record<Fault, number>>>;
  readonly toError: (fault: Fault, message: string, action: Action | null) => JsonObject;
};

/** Reads the vendor's words from a text, in the order of STATUSES. */
export const toWords = (text: string): Readonly<Record<Status, string>> => {
  const words = text.split(" ");
  return Object.fromEntries(STATUSES.map((status, at) => [status, words[at]])) as never;
};

/** A reason may be "constructor", so only own fields count. */
export const findWord = (
  table: Readonly<Record<string, string>>,
  reason: string,
  otherwise: string,
): string => (Object.hasOwn(table, reason) ? table[reason] : undefined) ?? otherwise;

/** The status of the mailbox behind a role address, for vendors that have no word for the role. */
export const withoutRole = ({ status, mailboxExists, catchAll }: Found): Status => {
  if (status !== "role") return status;
  if (mailboxExists) return "valid";
  return catchAll ? "catch_all" : "unknown";
};

/** The parameters of the query and the body, which is a form or JSON. */
export type Fields = Readonly<Record<string, unknown>>;

type Sent = {
  readonly search: string;
  readonly headers: Headers;
  readonly bytes: () => AsyncIterable<Uint8Array>;
};

export const readFields = async (
  { email }: Pick<Dialect, "email">,
  request: Sent,
): Promise<Fields> => {
  assertFewParameters(request.search);
  // Many clients do not encode the plus sign of an address. It also stands for a space, which no usual address contains.
  const query = toFields(new URLSearchParams(request.search.replaceAll("+", "%2B")));
  const fields = { ...query, ...(await readBody(request)) };
  // The decoder replaces bytes that are not UTF-8, so the address would be another.
  const { [email]: address } = fields;
  if (typeof address === "string" && address.includes("\uFFFD"))
    throw invalidField(email, "must be UTF-8");
  return fields;
};

/** Different values of one name become a list, which is no address, no key and no timeout. */
const toFields = (parameters: URLSearchParams): Fields =>
  Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = [...new Set(parameters.getAll(name))];
      return [name, values.length === 1 ? values[0] : values];
    }),
  );

const FORM_TYPE = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** A client of NeverBounce sends a body with GET, so the method does not matter. */
const readBody = async ({ headers, bytes }: Sent): Promise<Fields> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes()) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw bodyTooLarge(BODY_BYTES_MAX);
    chunks.push(chunk);
  }
  if (length === 0) return {};
  assertNotCompressed(headers["content-encoding"]);
  const body = Buffer.concat(chunks);
  const type = headers["content-type"];
  if (type !== undefined && FORM_TYPE.test(type))
    return toFields(new URLSearchParams(decodeJson(body)));
  assertJsonType(type);
  assertCheapJson(body);
  const parsed = parseJson(body);
  if (isObject(parsed)) return parsed as Fields;
  throw invalidField("body", "must be a JSON object or a form");
};

const AUTHORIZATION = /^(?:(?:Bearer|token) +)?(\S+)$/i;

/** The key, or null without one. Two different keys do not show which one the client means: joined, they match no key. */
export const readKey = (
  { key, keyHeader }: Dialect,
  { headers }: Pick<Sent, "headers">,
  fields: Fields,
): string | null => {
  const sent = [
    key === null ? undefined : fields[key],
    headers["x-api-key"]?.trim(),
    keyHeader && headers[keyHeader]?.trim(),
    AUTHORIZATION.exec(headers["authorization"]?.trim() ?? "")?.[1],
  ].filter((one) => typeof one === "string" && one !== "");
  return sent.length === 0 ? null : [...new Set(sent)].join(" ");
};

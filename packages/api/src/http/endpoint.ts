import type { PublicUse } from "@mailproof/core/accounts/api-key-items";
import type { Area, Scope } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import type { FailureCode } from "@mailproof/core/lib/failure";
import type { Payer, PayingPerson } from "@mailproof/core/money/payer";
import type { Role } from "@mailproof/core/people/roles";
import type { Need } from "@mailproof/core/runtime/need";
import type { BaseIssue, BaseSchema, InferOutput } from "valibot";
import type { Tag } from "../openapi/tags.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Schema<T = unknown> = BaseSchema<unknown, T, BaseIssue<unknown>>;

export type Caller = Payer & {
  readonly credential: "key" | "token" | "session";
  /** The key's id, the person's id, or one id for all access tokens of the account. The rate limit counts by it. */
  readonly keyId: string;
  readonly scopes: readonly Scope[] | null;
  /** The sender of a request with a public key, and the limits of the key. */
  readonly visitor?: { readonly id: string; readonly use: PublicUse; readonly origin: string };
  /** The signed-in person of a session. */
  readonly person?: PayingPerson & {
    readonly name: string;
    /** Null where the request names no account. */
    readonly role: Role | null;
    /** The area that limits the person's rights. */
    readonly area?: Area | undefined;
    /** True when the member has a limit of its own, and so gives no rights to others. */
    readonly isLimited?: boolean;
    /** The hash of the session's token. */
    readonly session: string;
    /** True when the person signed in within the last five minutes. */
    readonly isFresh: boolean;
  };
  /** Stores the time of the key's or session's last use. Absent for access tokens, which are not stored. */
  readonly recordUse?: () => Promise<void>;
};

/**
 * The required right: none, this scope, an unrestricted key or an owner, any signed-in person, or a person who manages the
 * account's people.
 */
export type Access = "public" | "unrestricted" | "person" | "people" | Scope;

export type Part = {
  readonly name: string;
  /** Null for a plain field. Empty for a file field without a chosen file. */
  readonly fileName: string | null;
  /** A stream that the handler reads once. Requesting the next part skips unread bytes. */
  readonly content: AsyncIterable<Uint8Array>;
};

/** Each part of the request has its own schema, so a field cannot pass for a field of another part. */
export type Input<P = unknown, Q = unknown, B = unknown> = {
  readonly path: P;
  readonly query: Q;
  readonly body: B;
  /** The Idempotency-Key, if the endpoint accepts one and the client sent one. */
  readonly key: string | null;
  /** The parts of a multipart form, if the endpoint accepts one and the client sent one. */
  readonly form: AsyncIterable<Part> | null;
  /** The service's URL for the client, without a final slash. */
  readonly baseUrl: string;
  /** The token of the browser's session, which nothing has checked. Null without one. */
  readonly session: string | null;
};

/** streamed: the service stores the form's files as they arrive. gathered: the form is held in memory, where each account has a share. */
export type FormUse = "streamed" | "gathered";

/** A request has either a form or a body. */
type FormInput<P, Q, B> =
  | (Input<P, Q, B> & { readonly form: null })
  | (Input<P, Q, undefined> & { readonly form: AsyncIterable<Part> });

type Extra = {
  /** Additional headers: retry-after, content-type, content-disposition. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type DataAnswer<T> = Extra & {
  readonly kind?: "data";
  readonly status: Success | 503;
  readonly data: T;
};

export type Answer<T> =
  | DataAnswer<T>
  | (Extra & Streamed & { readonly kind: "stream"; readonly status: 200 });
export type Success = 200 | 201 | 202;

export type Streamed = {
  /** Read once, as fast as the client reads; closed when the client disconnects. A yielded chunk never changes. */
  readonly stream: AsyncIterable<string | Uint8Array>;
  /**
   * Makes a link to the same content, for a runtime that limits the length of responses. Throws NOT_READY while a worker makes
   * the content.
   */
  readonly elsewhere: () => Promise<string>;
};

/**
 * The effect of a call for an MCP client. readOnly: nothing changes. additive: each call adds something, and some calls cost
 * credits. idempotent: a repeat changes nothing more. destructive: deletes or replaces data.
 */
export type Effect = "readOnly" | "additive" | "idempotent" | "destructive";

export type ToolOptions = {
  readonly effect: Effect;
  /** A hint tells a model a fact that it would otherwise get wrong. */
  readonly hint?: string;
};

/** One action of a body with several. The client has a method for it, with this id as its name. */
export type Action = { readonly id: string; readonly repeat?: "always" };

/**
 * One endpoint is one value. Lambda, the local server, IAM, the OpenAPI document, the manual, the MCP tool and the client all
 * read it.
 */
export type Endpoint<P = unknown, Q = unknown, B = unknown, O = unknown> = {
  /** The operationId and the client's method; in other spellings the tool, the file and the Lambda. */
  readonly id: string;
  readonly route: `${Method} /${string}`;
  readonly tag: Tag;
  /** The reason for a route beyond the contract. Absent for the contract's routes. */
  readonly addition?: string;
  readonly summary: string;
  /** The price in words. Null for a free endpoint, whose failures cannot have charged anything. */
  readonly price: string | null;
  readonly access: Access;
  /** A person must have signed in within the last five minutes. Keys are not affected. */
  readonly freshSignIn?: true;
  /** Accepts requests from this service's own pages only: no other page can sign a visitor in. */
  readonly fromOwnPage?: true;
  /** Set when the endpoint also accepts public keys, which every visitor of a page can read. */
  readonly forVisitors?: true;
  readonly needs: readonly Need[];
  /** Null when the endpoint is not a tool; its file gives the reason. */
  readonly tool: ToolOptions | null;
  /** A client may repeat a POST without an Idempotency-Key: the endpoint only reads, or recognises the same content. */
  readonly repeat?: "always";
  /** The actions of the body, in the order of its variants. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** Absent when the endpoint answers only 200. Contains 503 only when it is the requested result and not a failure. */
  readonly answers?: readonly (Success | 503)[];
  readonly errors: readonly FailureCode[];
  /** A part without a schema accepts nothing: no query parameter, no body. */
  readonly path?: Schema<P> | undefined;
  readonly query?: Schema<Q> | undefined;
  readonly body?: Schema<B> | undefined;
  /** The most bytes of a JSON body. Default BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  readonly output: Schema<O>;
  /** Set when the endpoint also accepts a multipart form in place of the body. */
  readonly form?: FormUse | undefined;
  /** Accepts an Idempotency-Key. Other endpoints ignore the header. */
  readonly keyed?: true;
  /** False when the contract requires the data without {success, data}. */
  readonly enveloped?: false;
  // Method syntax on purpose: it allows endpoints with different inputs in one list.
  handle(world: AppWorld, caller: Caller, input: Input<P, Q, B>): Promise<Answer<O>>;
};

/** Returns verify-email for verifyEmail: the name of the endpoint's file, its story and its Lambda's entry. */
export const toFileName = ({ id }: Pick<Endpoint, "id">): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type OutputOf<S extends Schema | undefined> = S extends Schema ? InferOutput<S> : undefined;

type InputFor<F, P, Q, B> = F extends FormUse ? FormInput<P, Q, B> : Input<P, Q, B>;

/** The errors of every endpoint that requires a key or a token. */
export const KEYED_ERRORS = [
  "INVALID_REQUEST",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
] as const satisfies readonly FailureCode[];

/** The types that follow from the endpoint's schemas. */
type Typed<
  O extends Schema,
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  F extends FormUse | undefined,
> = {
  readonly path?: P | undefined;
  readonly query?: Q | undefined;
  readonly body?: B | undefined;
  readonly output: O;
  readonly form?: F;
  handle(
    world: AppWorld,
    caller: Caller,
    input: InputFor<F, OutputOf<P>, OutputOf<Q>, OutputOf<B>>,
  ): Promise<Answer<InferOutput<O>>>;
};

type Untyped = Omit<Endpoint, "path" | "query" | "body" | "output" | "form" | "handle">;

/** A GET without `tool` is a tool that only reads. */
type ToolByRoute =
  | { readonly route: `GET /${string}`; readonly tool?: ToolOptions | null }
  | { readonly route: `${Exclude<Method, "GET">} /${string}`; readonly tool: ToolOptions | null };

/** Most endpoints are free and need only the table. `errors` names those beyond the errors of every endpoint of its access. */
type Definition = Omit<Untyped, "route" | "tool" | "price" | "needs" | "errors"> &
  Partial<Pick<Untyped, "price" | "needs" | "errors">> &
  ToolByRoute;

export const endpoint = <
  O extends Schema,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  F extends FormUse | undefined = undefined,
>(
  definition: Definition & Typed<O, P, Q, B, F>,
): Untyped & Typed<O, P, Q, B, F> => {
  const { access, errors = [] } = definition;
  const usual: readonly FailureCode[] = access === "public" ? ["INVALID_REQUEST"] : KEYED_ERRORS;
  return {
    price: null,
    needs: ["table:readwrite"],
    tool: { effect: "readOnly" },
    ...definition,
    errors: [...usual, ...errors],
  };
};

export const ok = <T>(data: T): DataAnswer<T> => ({ status: 200, data });

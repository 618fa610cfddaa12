import type { PublicUse } from "@mailproof/core/accounts/api-key-items";
import type { Scope } from "@mailproof/core/accounts/scopes";
import type { AppWorld } from "@mailproof/core/app-world";
import type { FailureCode } from "@mailproof/core/lib/failure";
import type { Payer } from "@mailproof/core/money/payer";
import type { Need } from "@mailproof/core/runtime/need";
import type { BaseIssue, BaseSchema, InferOutput } from "valibot";
import type { Tag } from "../openapi/tags.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Schema<T = unknown> = BaseSchema<unknown, T, BaseIssue<unknown>>;

export type Caller = Payer & {
  readonly credential: "key" | "token";
  /** The key's, or one for all access tokens of the account: what requests are counted by. */
  readonly keyId: string;
  /** Null: unrestricted. */
  readonly scopes: readonly Scope[] | null;
  /** Of a public key: who sends the request, and how much the key may be used. */
  readonly visitor?: { readonly id: string; readonly use: PublicUse; readonly origin: string };
  /** Stores when the key was last used. Absent for access tokens, which are not stored. */
  readonly recordUse?: () => Promise<void>;
};

/** Who may call: any client, a key with this scope, or only a key that is not limited to scopes. */
export type Access = "public" | "unrestricted" | Scope;

/** A part of a multipart form. */
export type Part = {
  readonly name: string;
  /** Null: a plain field. Empty: a file field without a chosen file. */
  readonly fileName: string | null;
  /** A stream that is read once. Unread bytes are skipped when the next part is requested. */
  readonly content: AsyncIterable<Uint8Array>;
};

/** Each part of the request has a schema of its own, so no field can pass for one of another part. */
export type Input<P = unknown, Q = unknown, B = unknown> = {
  readonly path: P;
  readonly query: Q;
  readonly body: B;
  /** The Idempotency-Key, where the endpoint takes one and the caller sent one. */
  readonly key: string | null;
  /** The parts of a multipart form, where the endpoint takes one and the caller sent one. */
  readonly form: AsyncIterable<Part> | null;
};

/** streamed: its files are stored as they come. gathered: in memory, of which each account has a share. */
export type FormUse = "streamed" | "gathered";

/** A request has a form or a body, never both. */
type FormInput<P, Q, B> =
  | (Input<P, Q, B> & { readonly form: null })
  | (Input<P, Q, undefined> & { readonly form: AsyncIterable<Part> });

type Extra = {
  /** In addition to the headers of every response: retry-after, content-type, content-disposition. */
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

/** A response that is never held in memory as a whole. */
export type Streamed = {
  /** Read once, as fast as the caller reads; closed when the caller hangs up. A chunk is not changed after it was yielded. */
  readonly stream: AsyncIterable<string | Uint8Array>;
  /**
   * Makes a link to the same content, for a runtime whose responses cannot be this long. While a worker makes the
   * content: the answer that says so.
   */
  readonly elsewhere: () => Promise<string>;
};

/**
 * What a call changes, as an MCP client has to know it. readOnly: nothing. additive: each call adds something, and some
 * cost credits. idempotent: repeating a call changes nothing more. destructive: deletes or replaces what was there.
 */
export type Effect = "readOnly" | "additive" | "idempotent" | "destructive";

/** How an operation behaves as an MCP tool. */
export type ToolOptions = {
  readonly effect: Effect;
  /** What a model would get wrong without it. */
  readonly hint?: string;
};

/** One of several things that a body may ask for. In the client it is a method of its own, called by its id. */
export type Action = { readonly id: string; readonly repeat?: "always" };

/**
 * One endpoint is one value. Lambda, the local server, IAM, the OpenAPI document, the manual, the MCP tool and the client
 * all read the same value.
 */
export type Endpoint<P = unknown, Q = unknown, B = unknown, O = unknown> = {
  /** The operationId, the client's method, and in other spellings the tool, the file and the Lambda. */
  readonly id: string;
  readonly route: `${Method} /${string}`;
  readonly tag: Tag;
  /** Why there is a route that the contract does not have. Absent: it is one of the contract's. */
  readonly addition?: string;
  readonly summary: string;
  /** In words, for people. Null: free, so no failure can have charged anything. */
  readonly price: string | null;
  readonly access: Access;
  /** Takes public keys, too: whoever opens a page has one. */
  readonly forVisitors?: true;
  readonly needs: readonly Need[];
  /** Null where it is not a tool. The endpoint gives the reason. */
  readonly tool: ToolOptions | null;
  /** A client may send a POST again without a key: it only reads, or it knows what it was sent by its content. */
  readonly repeat?: "always";
  /** The actions of the body, in the order of its variants. */
  readonly actions?: Readonly<Record<string, Action>>;
  /** 503 where it is the requested result and not a failure. */
  readonly answers: readonly (Success | 503)[];
  readonly errors: readonly FailureCode[];
  /** A part without a schema takes nothing: no query parameter, no body. */
  readonly path?: Schema<P> | undefined;
  readonly query?: Schema<Q> | undefined;
  readonly body?: Schema<B> | undefined;
  /** The most bytes of a JSON body, where that is not BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  readonly output: Schema<O>;
  /** Takes a multipart form in the place of the body, too. */
  readonly form?: FormUse | undefined;
  /** Takes an Idempotency-Key. Elsewhere the header means nothing. */
  readonly keyed?: true;
  /** False where the contract requires the data without {success, data}. */
  readonly enveloped?: false;
  // Method syntax on purpose: it lets endpoints with different inputs live in one list.
  handle(world: AppWorld, caller: Caller, input: Input<P, Q, B>): Promise<Answer<O>>;
};

/** verifyEmail → verify-email: the endpoint's file, its story and its Lambda's entry. */
export const toFileName = ({ id }: Pick<Endpoint, "id">): string =>
  id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

type OutputOf<S extends Schema | undefined> = S extends Schema ? InferOutput<S> : undefined;

type InputFor<F, P, Q, B> = F extends FormUse ? FormInput<P, Q, B> : Input<P, Q, B>;

/** Ties the handler's types to its schemas. */
export const endpoint = <
  O extends Schema,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  F extends FormUse | undefined = undefined,
>(
  definition: Omit<
    Endpoint<OutputOf<P>, OutputOf<Q>, OutputOf<B>, InferOutput<O>>,
    "path" | "query" | "body" | "output" | "form" | "handle"
  > & {
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
  },
) => definition;

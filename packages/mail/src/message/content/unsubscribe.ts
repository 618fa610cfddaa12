import type { DkimResult } from "../dkim/verify.ts";
import { findFields, getValue, type HeaderField } from "../parse/fields.ts";

/** The ways to leave the list (RFC 2369 §3.2, RFC 8058). */
export type Unsubscribe = {
  readonly hasField: boolean;
  readonly httpsUri: string | null;
  readonly mailtoUri: string | null;
  /** List-Unsubscribe-Post has exactly the value that RFC 8058 §3.1 requires. */
  readonly hasPost: boolean;
  /** True when one valid DKIM signature covers both fields (RFC 8058 §4). Null when no signature could be verified. */
  readonly isSigned: boolean | null;
  readonly isOneClick: boolean;
};

const URIS_LENGTH_MAX = 10_000;
const SHOWN_MAX = 1_000;

export type ReadUnsubscribe = Omit<Unsubscribe, "isSigned" | "isOneClick">;

export const readUnsubscribe = (fields: readonly HeaderField[]): ReadUnsubscribe => {
  const own = findFields(fields, "list-unsubscribe");
  const text = own.map(getValue).join(", ").slice(0, URIS_LENGTH_MAX);
  const uris = [...text.matchAll(/<([^<>]{1,2000})>/g)].map(([, uri = ""]) =>
    uri.replaceAll(/\s/g, ""),
  );
  const find = (scheme: RegExp) =>
    uris.find((uri) => scheme.test(uri))?.slice(0, SHOWN_MAX) ?? null;
  const post = findFields(fields, "list-unsubscribe-post").map(getValue);
  const hasPost = post.length === 1 && /^list-unsubscribe=one-click$/i.test(post[0] ?? "");
  return {
    hasField: own.length > 0,
    httpsUri: find(/^https:\/\/./i),
    mailtoUri: find(/^mailto:./i),
    hasPost,
  };
};

export const judgeUnsubscribe = (
  read: ReadUnsubscribe,
  signatures: readonly DkimResult[],
): Unsubscribe => {
  const isCovered = signatures.some(
    ({ result, signedFields }) =>
      result === "pass" &&
      signedFields.includes("list-unsubscribe") &&
      signedFields.includes("list-unsubscribe-post"),
  );
  const isOpen = signatures.some(({ result }) => result === "temperror");
  const isSigned = isCovered || (isOpen ? null : false);
  const isOneClick = read.httpsUri !== null && read.hasPost && isSigned === true;
  return { ...read, isSigned, isOneClick };
};

import { createHmac, timingSafeEqual } from "node:crypto";
import { toEpochSeconds } from "@mailproof/core/lib/time";

/** A link allows one method on one object. The signature covers all fields, so nobody can change them. */
export type LinkPurpose =
  | {
      readonly method: "PUT";
      readonly key: string;
      readonly bytesMax: number;
      /** The only size that the link accepts. Absent: any up to `bytesMax`. */
      readonly bytes?: number | undefined;
    }
  | {
      readonly method: "GET";
      readonly key: string;
      readonly fileName: string;
      readonly contentType: string;
      /** The account whose downloads are limited together. Absent: only this object's downloads. */
      readonly account?: string | undefined;
    };

export type SignLink = (purpose: LinkPurpose, expiresInSeconds: number) => string;
export type OpenLink = (
  method: string,
  key: string,
  query: URLSearchParams,
) => LinkPurpose | undefined;

export const BLOBS_PATH = "/blobs/";

/** Signed links that this server accepts, as S3 accepts presigned ones. */
export const createBlobLinks = ({
  secret,
  baseUrl,
  now,
}: {
  secret: string;
  baseUrl: () => string;
  now: () => Date;
}): { sign: SignLink; open: OpenLink } => {
  const seconds = () => toEpochSeconds(now());
  const computeSignature = (purpose: LinkPurpose, until: number) => {
    const signed = JSON.stringify([purpose.method, purpose.key, until, toTerms(purpose)]);
    return createHmac("sha256", secret).update(signed).digest();
  };

  return {
    sign: (purpose, expiresInSeconds) => {
      const until = seconds() + expiresInSeconds;
      const query = new URLSearchParams({ until: String(until), ...toTerms(purpose) });
      query.set("signature", computeSignature(purpose, until).toString("base64url"));
      return `${baseUrl()}${BLOBS_PATH}${purpose.key}?${query.toString()}`;
    },

    open: (method, key, query) => {
      const until = Number(query.get("until"));
      const purpose = parsePurpose(method, key, query);
      const signature = Buffer.from(query.get("signature") ?? "", "base64url");
      if (!purpose || !(until >= seconds())) return undefined;
      const expected = computeSignature(purpose, until);
      return signature.length === expected.length && timingSafeEqual(signature, expected)
        ? purpose
        : undefined;
    },
  };
};

const toTerms = (purpose: LinkPurpose): Record<string, string> =>
  purpose.method === "PUT"
    ? {
        bytesMax: String(purpose.bytesMax),
        ...(purpose.bytes !== undefined && { bytes: String(purpose.bytes) }),
      }
    : {
        fileName: purpose.fileName,
        contentType: purpose.contentType,
        ...(purpose.account !== undefined && { account: purpose.account }),
      };

const parsePurpose = (
  method: string,
  key: string,
  query: URLSearchParams,
): LinkPurpose | undefined => {
  if (method === "PUT") {
    const bytes = query.get("bytes");
    const bytesMax = Number(query.get("bytesMax"));
    return { method, key, bytesMax, ...(bytes !== null && { bytes: Number(bytes) }) };
  }
  if (method !== "GET") return undefined;
  const [fileName, contentType] = [query.get("fileName") ?? "", query.get("contentType") ?? ""];
  return { method, key, fileName, contentType, account: query.get("account") ?? undefined };
};

/** The part of dns-packet that the lab uses; the package has no types of its own. */
declare module "dns-packet" {
  export type Question = { readonly type: string; readonly name: string };
  export type Answer = Question & {
    readonly ttl?: number;
    readonly data?: unknown;
    readonly udpPayloadSize?: number;
    readonly flags?: number;
    readonly options?: readonly unknown[];
  };
  export type Packet = {
    readonly id?: number;
    readonly type?: "query" | "response";
    readonly flags?: number;
    readonly questions?: readonly Question[];
    readonly answers?: readonly Answer[];
    readonly authorities?: readonly Answer[];
    readonly additionals?: readonly Answer[];
  };
  export const decode: (bytes: Uint8Array) => Packet;
  export const encode: (packet: Packet) => Buffer;
  export const AUTHORITATIVE_ANSWER: number;
  export const TRUNCATED_RESPONSE: number;
  export const RECURSION_DESIRED: number;
  export const RECURSION_AVAILABLE: number;
  export const AUTHENTIC_DATA: number;
}

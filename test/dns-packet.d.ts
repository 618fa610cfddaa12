/** The part of dns-packet that the tests use; it brings no types of its own. */
declare module "dns-packet" {
  export type Packet = {
    readonly id: number;
    readonly flags?: number;
    readonly questions: readonly { readonly name: string; readonly type: string }[];
  };
  export type Answer = {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  };

  export const AUTHORITATIVE_ANSWER: number;
  export const TRUNCATED_RESPONSE: number;
  export const RECURSION_DESIRED: number;
  export const RECURSION_AVAILABLE: number;

  export const decode: (packet: Uint8Array) => Packet;
  export const encode: (
    packet: Packet & { readonly type: "response"; readonly answers: readonly Answer[] },
  ) => Buffer;
}

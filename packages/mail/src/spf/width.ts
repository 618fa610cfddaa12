import type { SpfMechanism } from "./parse.ts";

export type SpfWidth = "wide" | "unowned";

/** A /16: the widest range that one sender can use. */
const ORDINARY_LENGTH4 = 16;
/** IANA never assigned more than a /8 of IPv4 to one owner, and gives registries a /12 of IPv6. */
const OWNED_LENGTH4 = 8;
const OWNED_LENGTH6 = 12;

export const measureWidth = (mechanism: SpfMechanism): SpfWidth | undefined => {
  const [length4, length6] = getLengths(mechanism);
  if (length4 < OWNED_LENGTH4 || length6 < OWNED_LENGTH6) return "unowned";
  return length4 < ORDINARY_LENGTH4 ? "wide" : undefined;
};

const getLengths = (mechanism: SpfMechanism): readonly [length4: number, length6: number] => {
  if (mechanism.kind === "ip4") return [mechanism.block.length, 128];
  if (mechanism.kind === "ip6") return [32, mechanism.block.length];
  return "length4" in mechanism ? [mechanism.length4, mechanism.length6] : [32, 128];
};

import type { Zones } from "@mailproof/lab/zone";

// The zones of an attacker who runs name servers: what every name below them is answered.

const numbered = <T>(count: number, of: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => of(n));

/** Nearly 64 KB each, as they go over the wire: what one answer of DNS can hold. */
const FAT: Zones = {
  "fat-mx.test": { "*.fat-mx.test": { MX: numbered(1_300, (n) => [n, `h${n}.fat-mx.test`]) } },
  "fat-a.test": {
    "*.fat-a.test": { A: numbered(1_900, (n) => `8.8.${n >> 8}.${n & 0xff}`) },
  },
  "fat-txt.test": {
    "*.fat-txt.test": { TXT: numbered(240, (n) => `${n} ${"x".repeat(220)}`) },
  },
};

export const FAT_APEXES = Object.keys(FAT);
export const SILENT_APEX = "mute.test";
export const ONE_APEX = "one.test";

export const ATTACKERS_ZONES = {
  silentHosts: { apex: "silent.test", count: 1_000 },
  tarpits: { apex: "tarpit.test", count: 200 },
  zones: {
    ...FAT,
    [SILENT_APEX]: { [`*.${SILENT_APEX}`]: "TIMEOUT" },
    // Every name exists and takes no mail: two questions each, all about one zone.
    [ONE_APEX]: { [`*.${ONE_APEX}`]: { TXT: ["nothing"] } },
  } satisfies Zones,
} as const;

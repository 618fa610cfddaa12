import { startDnsServer } from "@mailproof/lab/dns-server";
import type { Records as LabRecords } from "@mailproof/lab/zone";
import { parseMx, type Zone } from "../app/zone.ts";

export type DnsServer = {
  /** As settings name it: "127.0.0.1:5353". */
  readonly address: string;
  /** Every question that came in, with its transport: "udp MX example.com". */
  readonly questions: readonly string[];
  readonly close: () => Promise<void>;
};

const STRING_BYTES_MAX = 255;

/** The lab's name server for one zone of a test, which no name in the world is outside of. */
export const serveZone = async (zone: Zone): Promise<DnsServer> => {
  const questions: string[] = [];
  const names = Object.entries(zone).map(([name, at]) => [
    name,
    typeof at === "string" ? at : toLab(at),
  ]);
  const zones = { "": Object.fromEntries(names) as Record<string, LabRecords> };
  const { address, close } = await startDnsServer(zones, 0, (question) => questions.push(question));
  return { address, questions, close };
};

const toLab = (records: Exclude<Zone[string], string>): LabRecords =>
  Object.fromEntries(
    Object.entries(records).map(([type, data]) => {
      if (typeof data === "string") return [type, data];
      if (type === "MX")
        return [type, data.map(parseMx).map((mx) => [mx.priority, mx.exchange || "."])];
      return [type, type === "TXT" ? data.map(inStrings) : data];
    }),
  );

/** A record is several strings of at most 255 bytes (RFC 1035 §3.3). */
const inStrings = (text: string): readonly string[] =>
  text.match(new RegExp(`[\\s\\S]{1,${STRING_BYTES_MAX}}`, "g")) ?? [""];

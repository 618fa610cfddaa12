import type { MailHost } from "../dialogue.ts";
import type { Zone, Zones } from "../zone.ts";
import type { Receiver, ReceiverCounts } from "./receiver.ts";
import { createReceiver } from "./receiver-host.ts";

export type ReceiverNetwork = {
  readonly hosts: readonly MailHost[];
  readonly zones: Zones;
  readonly counts: () => Readonly<Record<string, ReceiverCounts>>;
};

/** Numbers the receivers' addresses after those of the lab's own hosts, which have the lower half of the block. */
const formatAddress = (index: number): string =>
  `127.77.${128 + Math.floor(index / 250)}.${1 + (index % 250)}`;

/** Builds the hosts and domains of receivers under their real names, each host at its own address. */
export const buildReceiverNetwork = (
  receivers: readonly Receiver[],
  blockedBy: readonly string[],
  now: () => Date,
): ReceiverNetwork => {
  const hosts: MailHost[] = [];
  const zones: Record<string, Zone> = {};
  const counts: (readonly [string, () => ReceiverCounts])[] = [];
  for (const receiver of receivers) {
    const {
      behavior,
      visit,
      counts: countOne,
    } = createReceiver(receiver, now, findListing(receiver, blockedBy));
    counts.push([receiver.id, countOne]);
    for (const name of listHosts(receiver)) {
      const address = formatAddress(hosts.length);
      hosts.push({ name, address, behavior, visit: (client) => visit(name, client) });
      zones[name] = { [name]: { A: [address] } };
    }
    for (const { name, hosts: own = receiver.hosts } of receiver.domains)
      zones[name] = { [name]: { MX: own.map((host, index) => [10 * (index + 1), host]) } };
  }
  return {
    hosts,
    zones,
    counts: () => Object.fromEntries(counts.map(([id, countOne]) => [id, countOne()])),
  };
};

/** "id" selects the receiver's first block for listed clients, and "id:name" the named block. */
const findListing = ({ id }: Receiver, blockedBy: readonly string[]): boolean | string => {
  const entry = blockedBy.find((one) => one.split(":", 1)[0] === id);
  return entry === undefined ? false : (entry.split(":")[1] ?? true);
};

const listHosts = ({ hosts, domains }: Receiver): readonly string[] => [
  ...new Set([...hosts, ...domains.flatMap((domain) => domain.hosts ?? [])]),
];

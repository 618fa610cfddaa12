import type { Reach } from "./reach.ts";

export const describeReach = ({ state, refusedBy }: Pick<Reach, "state" | "refusedBy">): string =>
  SENTENCES[state].replace("{providers}", refusedBy.join(" and "));

const SENTENCES: Readonly<Record<Reach["state"], string>> = {
  open: "Mail servers can be asked.",
  refused_by:
    "Mail servers can be asked, but {providers} refuses this server now: results there may stay unknown, which costs nothing.",
  dns_only:
    "This server cannot reach mail servers: port 25 is closed. Results that need one stay unknown, which costs nothing. Its operator can change that.",
  lab: "This server reaches neither name servers nor mail servers: only addresses of its lab (lab.mailproof.test) have results, where that is on.",
  not_measured: "It is not known yet whether this server can reach mail servers.",
};

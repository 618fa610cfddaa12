import { iterateAccounts } from "@mailproof/core/accounts/account-items";
import { describeReach } from "@mailproof/core/egress/describe-reach";
import { findReach } from "@mailproof/core/egress/reach";
import { nameIps } from "@mailproof/core/egress/tested-exits";
import { DAY_MS, HOUR_MS } from "@mailproof/core/lib/time";
import { FREE_BYTES } from "@mailproof/core/ports/free-space";
import { getRecords } from "@mailproof/mail/dns/dns";
import { findMailHosts } from "@mailproof/mail/dns/mail-hosts";
import { getEditionAge } from "@mailproof/mail/lists/edition-age";
import * as v from "valibot";
import type { LocalWorld } from "../app.ts";
import type { Environment } from "../environment.ts";
import { PROGRAM } from "../installation.ts";
import { readLastBackup } from "../storage/last-backup.ts";
import { readLastScrape } from "../storage/last-scrape.ts";
import { defineAdmin } from "./define-admin.ts";

// Checks eleven requirements of a server before customers depend on it, and prints the setting or command that meets each one.

type Setup = { readonly world: LocalWorld; readonly environment: Environment };
/** Null when the light is on; otherwise a sentence that names the missing part. */
type Missing = string | null;

type Light = {
  readonly light: string;
  readonly find: (setup: Setup) => Promise<Missing> | Missing;
  readonly how: string;
};

const LISTS_DAYS_MAX = 60;

const LIGHTS: readonly Light[] = [
  {
    light: "Reach",
    find: async ({ world }) => {
      const reach = await findReach(world);
      return reach.state === "open" ? null : describeReach(reach);
    },
    how: `${PROGRAM} admin egress test: it names what is closed. Ask the provider of the machine to open port 25, or set SMTP_PROXIES`,
  },
  {
    light: "Name",
    find: ({ world, environment }) => findNameFault(world, environment.SMTP_HELLO),
    how: "SMTP_HELLO, its A record, and the PTR record of that address",
  },
  {
    light: "Witnesses",
    find: ({ environment: { WITNESSES } }) =>
      WITNESSES.length === 0
        ? "A mail provider that refuses every recipient because of us would not be noticed."
        : null,
    how: "WITNESSES: a mailbox of yours at each large provider, such as ada@gmail.com",
  },
  {
    light: "TLS",
    find: ({ environment: { PUBLIC_URL } }) =>
      PUBLIC_URL?.startsWith("https://")
        ? null
        : "Callers' keys and addresses travel without TLS, or may.",
    how: "a proxy with a certificate, such as Caddy, and its https address as PUBLIC_URL",
  },
  {
    light: "Public URL",
    find: ({ environment: { PUBLIC_URL } }) =>
      PUBLIC_URL === undefined ? "Links in responses lead to this machine's own address." : null,
    how: "PUBLIC_URL",
  },
  {
    light: "Account",
    find: async ({ world, environment: { DEMO } }) => {
      if (DEMO === "on") return "The demo account is open: its keys are in a file.";
      for await (const _ of iterateAccounts(world.table)) return null;
      return "There is no account.";
    },
    how: `DEMO=off, and ${PROGRAM} admin accounts create --name NAME --credits 1000`,
  },
  {
    light: "Backup",
    find: ({ world, environment: { MAILPROOF_DIR } }) => {
      const at = readLastBackup(MAILPROOF_DIR);
      const isFresh = at !== undefined && world.now().getTime() - at.getTime() < DAY_MS + HOUR_MS;
      return isFresh ? null : `The last backup: ${at?.toISOString() ?? "never"}.`;
    },
    how: `${PROGRAM} admin backup --to FOLDER --keep 14, each day, by cron or a timer of systemd`,
  },
  {
    light: "Metrics",
    find: async ({ world, environment: { METRICS_PORT } }) => {
      if (METRICS_PORT === undefined) return "No metrics are served.";
      const at = await readLastScrape(world.table);
      const isFresh = at !== undefined && world.now().getTime() - at.getTime() < HOUR_MS;
      return isFresh ? null : "Nothing has read the metrics for an hour.";
    },
    how: "METRICS_PORT, and a Prometheus that reads it",
  },
  {
    light: "Mail",
    find: ({ world, environment: { MAIL_DOMAIN } }) => findMailFault(world, MAIL_DOMAIN),
    how: "MAIL_DOMAIN, its MX record to this server, and port 25 forwarded to MAIL_PORT",
  },
  {
    light: "Disk",
    find: ({ world }) => {
      const free = world.freeBytes();
      if (free === null || free >= FREE_BYTES.enough) return null;
      return `${formatMegabytes(free)} are free. Below ${formatMegabytes(FREE_BYTES.forUploads)} uploads are refused, below ${formatMegabytes(FREE_BYTES.forWork)} all paid work.`;
    },
    how: "a larger disk for MAILPROOF_DIR, backups moved elsewhere, or a shorter retention of accounts",
  },
  {
    light: "Lists",
    find: ({ world }) => {
      const days = getEditionAge(world.engine.lists.edition, world.now());
      return days <= LISTS_DAYS_MAX ? null : `The lists of domains are ${days} days old.`;
    },
    how: `${PROGRAM} admin lists update`,
  },
];

const formatMegabytes = (bytes: number): string =>
  `${Math.round(bytes / 1_000_000).toLocaleString("en")} MB`;

const findNameFault = async (world: LocalWorld, helo: string): Promise<Missing> => {
  if (!helo.includes(".") || helo.endsWith(".invalid")) return `SMTP_HELLO is ${helo}.`;
  const { dns } = world.names;
  const ips = getRecords(await dns("A", helo));
  if (ips.length === 0) return `${helo} has no address.`;
  const wrong = (await nameIps(dns, ips)).find(({ names }) => !names.includes(helo.toLowerCase()));
  return wrong ? `The PTR record of ${wrong.ip} is ${wrong.name ?? "missing"}, not ${helo}.` : null;
};

const findMailFault = async (world: LocalWorld, domain: string | undefined): Promise<Missing> => {
  if (domain === undefined) return "Mail tests and reports by mail are off.";
  const found = await findMailHosts(world.names.dns, domain, world.names.allowed);
  return found.kind === "hosts" ? null : `${domain} has no mail host.`;
};

export const checklistDefinition = defineAdmin({
  usage: "",
  options: v.strictObject({}),
  judgesServer: true,
  async run(world, _options, environment) {
    const lights = await Promise.all(
      LIGHTS.map(async ({ light, find, how }) => {
        const missing = await Promise.resolve(find({ world, environment })).catch(
          (cause: Error) => `It could not be found out: ${cause.message}.`,
        );
        return { light, on: missing === null, missing, how: missing === null ? null : how };
      }),
    );
    const ok = lights.every(({ on }) => on);
    return { output: { ok, lights }, exitCode: ok ? 0 : 1 };
  },
});

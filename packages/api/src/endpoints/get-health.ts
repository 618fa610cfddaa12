import type { AppWorld } from "@mailproof/core/app-world";
import { findReach, type Reach } from "@mailproof/core/egress/reach";
import { getWindowStart } from "@mailproof/core/lib/time";
import { FREE_BYTES } from "@mailproof/core/ports/free-space";
import type { World } from "@mailproof/core/ports/world";
import { isDnsDead } from "@mailproof/core/runtime/dns-health";
import { listProviderBlocks } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { getEditionAge } from "@mailproof/mail/lists/edition-age";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { ReachField, toReach } from "../schema/reach.ts";

const PROBE_MS = 1_000;
const Check = v.picklist(["ok", "dead_letters_waiting", "failed"]);
type Check = v.InferOutput<typeof Check>;
/** failed: for a minute no name server has answered a query. */
const DnsCheck = v.picklist(["ok", "failed"]);
/** low: uploads are refused. full: all new paid work is refused. Left out where AWS provides the storage. */
const DiskCheck = v.picklist(["ok", "low", "full"]);
/** blocked: a large mail provider refuses one of our IP addresses. */
const MailProvidersCheck = v.picklist(["ok", "blocked"]);

const Output = v.object({
  status: describe(
    v.picklist(["healthy", "degraded"]),
    "`degraded` when one of `checks` is not ok.",
  ),
  timestamp: field.text("When the state was checked, ISO 8601."),
  service: field.text("The service's name."),
  version: field.text("The service's version."),
  lists: field.object(
    "The lists of domains (disposable, free). An old edition changes no status.",
    {
      version: field.text("Their edition, which is the day they are of."),
      age_days: field.count("Its age in days."),
    },
  ),
  reach: ReachField,
  checks: field.object("State of each part that the service depends on.", {
    table: describe(Check, "The database."),
    queue: describe(Check, "The queues."),
    blobs: describe(Check, "The file storage."),
    dns: describe(DnsCheck, "DNS. failed: no name server has answered any question for a minute."),
    mail_providers: describe(
      MailProvidersCheck,
      "blocked: a large mail provider refuses an IP address of this service.",
    ),
    disk: describe(
      v.optional(DiskCheck),
      "low: less than 1 GB is free, and uploads are refused. full: less than 100 MB are free, and all new work with a price is refused. Left out on AWS, and when the system does not know it.",
    ),
  }),
});

export type Health = v.InferOutput<typeof Output>;

export const getHealth = endpoint({
  id: "getHealth",
  route: "GET /health",
  tag: "Service",
  summary: "Get the state of the service and of what it depends on.",
  access: "public",
  enveloped: false,
  needs: ["table:readwrite", "queue:depth", "blobs:read"],
  // Not a tool: load balancers call it, and an MCP server that answers is alive.
  tool: null,
  answers: [200, 503],
  // A monitor may add query parameters to bypass caches.
  query: v.object({}),

  output: Output,

  async handle(world) {
    const data = await readHealth(world);
    const { table, queue, blobs } = data.checks;
    // Dead letters wait for a person, and clients can read results without DNS or a mail provider, so none of these faults
    // should remove the service from its load balancer.
    return { status: [table, queue, blobs].includes("failed") ? 503 : 200, data };
  },
});

export const readHealth = async (world: AppWorld): Promise<Health> => {
  const [table, queue, blobs, dns, mailProviders, reach] = await Promise.all([
    check(world, "table", () => probeTable(world)),
    check(world, "queue", () => world.queue.countDeadLetters()),
    check(world, "blobs", async () => void (await world.blobs.head("health/probe"))),
    readFlag(world, isDnsDead(world.table)).then((isDead) => (isDead ? "failed" : "ok")),
    readFlag(world, hasProviderBlock(world)).then((isBlocked) => (isBlocked ? "blocked" : "ok")),
    readReach(world),
  ] as const);
  const { edition } = world.engine.lists;
  const disk = judgeDisk(world.freeBytes());
  const checks = { table, queue, blobs, dns, mail_providers: mailProviders, ...disk } as const;
  const isWell = Object.values(checks).every((one) => one === "ok");
  return {
    status: isWell ? "healthy" : "degraded",
    timestamp: world.now().toISOString(),
    service: "mailproof",
    version: world.settings.version,
    reach: toReach(reach),
    lists: { version: edition, age_days: getEditionAge(edition, world.now()) },
    checks,
  };
};

/** False when the table cannot be read: the table's own check reports that. */
const readFlag = ({ sleep }: World, flag: Promise<boolean>): Promise<boolean> =>
  Promise.race([flag.catch(() => false), sleep(PROBE_MS).then(() => false)]);

const readReach = (world: World): Promise<Reach> =>
  Promise.race([findReach(world).catch(() => UNKNOWN), world.sleep(PROBE_MS).then(() => UNKNOWN)]);

const judgeDisk = (free: number | null): Pick<Health["checks"], "disk"> => {
  if (free === null) return {};
  if (free < FREE_BYTES.forWork) return { disk: "full" };
  return { disk: free < FREE_BYTES.forUploads ? "low" : "ok" };
};

const UNKNOWN: Reach = { state: "not_measured", refusedBy: [], measuredAt: null };

const hasProviderBlock = async (world: World): Promise<boolean> =>
  (await listProviderBlocks(world)).length > 0;

const SLOT_SECONDS = 10;

/** A full disk is still readable, so this also writes, but only once in ten seconds, because the route is public. */
const probeTable = async ({ table, now }: World): Promise<void> => {
  const slot = getWindowStart(now(), SLOT_SECONDS);
  const probe = { pk: "HEALTH", sk: String(slot) };
  if (!(await table.get(probe)))
    await table.write({ create: { ...probe, expires_at: slot + 2 * SLOT_SECONDS } });
};

/** Checks one port for at most a second, because the client has a timeout, too. */
const check = async (
  world: World,
  port: string,
  ask: () => Promise<number | void>,
): Promise<Check> => {
  // The log already reports the damage.
  if (world.damagedParts().has(port)) return "failed";
  const late = world.sleep(PROBE_MS).then(() => {
    throw new Error(`no answer within ${PROBE_MS} ms`);
  });
  try {
    const dead = await Promise.race([ask(), late]);
    return dead ? "dead_letters_waiting" : "ok";
  } catch (cause) {
    world.log("probe_failed", { port, cause });
    return "failed";
  }
};

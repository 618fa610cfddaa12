import type { World } from "@mailproof/core/ports/world";
import type { AdminDefinition } from "./define-admin.ts";
import type { CommandDefinition } from "./define-command.ts";

type Portable = AdminDefinition<CommandDefinition["options"], World, readonly []>;

export type AdminEntry<Definition = Portable> = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Definition>;
};

/** Commands print links to the dashboard at this URL. */
export const withServiceUrl = <W extends Pick<World, "settings">>(
  world: W,
  publicUrl: string,
): W => ({
  ...world,
  settings: { ...world.settings, publicUrl },
});

export const listEntries = <Name extends string, Definition>(
  summaries: Readonly<Record<Name, string>>,
  load: () => Promise<Readonly<Record<Name, Definition>>>,
): readonly AdminEntry<Definition>[] =>
  (Object.keys(summaries) as Name[]).map((name) => ({
    name,
    summary: summaries[name],
    load: async () => (await load())[name],
  }));

export const adminEntries: readonly AdminEntry[] = [
  ...listEntries(
    {
      "admin accounts create": "Creates an account with a live key and a test key.",
      "admin accounts list":
        "Lists all accounts, with their credits, their use of 30 days and their last call.",
      "admin accounts show": "Shows an account, its credits and its number of keys.",
      "admin accounts rename": "Changes an account's name.",
      "admin accounts plan": "Changes an account's plan, from the next request on.",
      "admin accounts disable":
        "Refuses an account's keys with 403, and cancels its open jobs, with their refunds.",
      "admin accounts enable": "Accepts the keys of a disabled account again.",
      "admin accounts close": "Closes an account for good.",
    },
    async () => (await import("./account-commands.ts")).accountDefinitions,
  ),
  ...listEntries(
    {
      "admin keys list": "Lists an account's keys, without the keys themselves.",
      "admin keys create": "Creates another key of an account, and prints it.",
      "admin keys revoke": "Revokes a key: the next request with it is refused.",
      "admin keys rotate":
        "Prints a new key with the same rights; the old one ends after the overlap.",
    },
    async () => (await import("./key-commands.ts")).keyDefinitions,
  ),
  ...listEntries(
    {
      "admin people list": "Lists the people who sign in, with their accounts and roles.",
      "admin people invite": "Prints a link that makes one person a member of an account.",
      "admin people reset":
        "Prints a link that signs in a locked-out person once, and ends the person's sessions.",
      "admin people remove": "Removes a member from an account, but not its last owner.",
      "admin people erase": "Erases a person in all accounts: name, address, ways to sign in.",
    },
    async () => (await import("./people-commands.ts")).peopleDefinitions,
  ),
  ...listEntries(
    {
      "admin credits list": "Lists the ledger of an account, newest first, in pages.",
      "admin credits grant": "Grants credits, or removes unspent ones with a negative amount.",
    },
    async () => (await import("./credit-commands.ts")).creditDefinitions,
  ),
  ...listEntries(
    {
      "admin jobs list": "Lists an account's jobs, newest first, in pages.",
      "admin jobs cancel": "Cancels a job, and refunds its rows without a result.",
    },
    async () => (await import("./job-commands.ts")).jobDefinitions,
  ),
  ...listEntries(
    {
      "admin webhooks list": "Lists an account's webhooks, without their secrets.",
      "admin webhooks enable": "Enables a webhook that was disabled after failed deliveries.",
    },
    async () => (await import("./webhook-commands.ts")).webhookDefinitions,
  ),
  ...listEntries(
    {
      "admin erase": "Erases an address in all accounts; exit code 1 while a running job has it.",
      "admin accounts retention": "Stores an account's jobs for fewer days than its plan.",
      "admin activity forget": "Deletes the stored opens and clicks of an address.",
    },
    async () => (await import("./data-commands.ts")).dataDefinitions,
  ),
  ...listEntries(
    {
      "admin calibration": "Shows how often mail bounced, by verdict, score and provider.",
      "admin providers": "Shows whether large providers still refuse unknown recipients.",
      "admin audit": "Adds up the ledger; exit code 1 if it is inconsistent.",
    },
    async () => (await import("./report-commands.ts")).reportDefinitions,
  ),
];

export const machineEntries: readonly AdminEntry<AdminDefinition>[] = [
  ...listEntries<string, AdminDefinition>(
    {
      "admin dead-letters list": "Lists messages that failed too often.",
      "admin dead-letters replay": "Retries the messages of a queue that failed too often.",
      "admin gauges": "Shows whether background work is late; exit code 1 if it is.",
    },
    async () => (await import("./machine-commands.ts")).machineDefinitions,
  ),
  {
    name: "admin checklist",
    summary:
      "Shows what this server needs before customers depend on it; exit code 1 if any is missing.",
    load: async () => (await import("./checklist-command.ts")).checklistDefinition,
  },
];

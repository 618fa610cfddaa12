import { adminEntries, listEntries, machineEntries } from "./admin.ts";
import type { CommandDefinition, CommandEntry } from "./define-command.ts";

export const commands: readonly CommandEntry[] = [
  {
    name: "start",
    summary: "Starts the server, and prints its URL, its keys and commands to try.",
    load: async () => (await import("./start-command.ts")).startCommand,
  },
  {
    name: "verify",
    summary: "Verifies addresses, or a list: in this process, or with the service that is set.",
    load: async () => (await import("./verify-command.ts")).verifyCommand,
  },
  {
    name: "file",
    summary: "Verifies a list with a service, waits, and writes the results next to its columns.",
    load: async () => (await import("./file-command.ts")).fileCommand,
  },
  {
    name: "check",
    summary: "Checks how a domain is set up to send mail, and says what to fix first.",
    load: async () => (await import("./check-command.ts")).checkCommand,
  },
  {
    name: "mail-test",
    summary: "Has one mail assessed by a service: prints an address, waits, and says what to fix.",
    load: async () => (await import("./mail-test-command.ts")).mailTestCommand,
  },
  {
    name: "report",
    summary: "Uploads DMARC and TLS reports about your domains to a service.",
    load: async () => (await import("./report-command.ts")).reportCommand,
  },
  {
    name: "receipt",
    summary: "Checks the receipt of a verdict, and judges it again where its evidence was kept.",
    load: async () => (await import("./receipt-command.ts")).receiptCommand,
  },
  {
    name: "find",
    summary: "Finds the address of a person at a company, with a service.",
    load: async () => (await import("./find-command.ts")).findCommand,
  },
  {
    name: "jobs",
    summary: "Lists the newest jobs; or waits for a job and writes its results; or cancels one.",
    load: async () => (await import("./jobs-command.ts")).jobsCommand,
  },
  {
    name: "mcp",
    summary: "Offers the tools of a service to an agent, over standard input and output.",
    load: async () => (await import("./mcp-command.ts")).mcpCommand,
  },
  {
    name: "listen",
    summary: "Sends the events of your account to a local URL, signed as a webhook, until Ctrl-C.",
    load: async () => (await import("./listen-command.ts")).listenCommand,
  },
  {
    name: "login",
    summary: "Checks an API key and stores it, so that no other command needs it.",
    load: async () => (await import("./login-command.ts")).loginCommand,
  },
  {
    name: "logout",
    summary: 'Removes a key that "mailproof login" stored. The key stays valid.',
    load: async () => (await import("./login-command.ts")).logoutCommand,
  },
  {
    name: "completion",
    summary: "Prints the completion of a shell, to be loaded by it.",
    load: async () => (await import("./completion-command.ts")).completionCommand,
  },
  {
    name: "config show",
    summary: "Prints every setting with its value, its default and where the value is from.",
    load: async () => (await import("./installation-commands.ts")).configCommand,
  },
  {
    name: "version",
    summary: "Prints the versions of Mailproof, Node and SQLite, and the commit where it is known.",
    load: async () => (await import("./installation-commands.ts")).versionCommand,
  },
  ...[...adminEntries, ...machineEntries].map(
    ({ name, summary, load }): CommandEntry => ({
      name,
      summary,
      load: async () => {
        const { defineAppCommand } = await import("./define-app-command.ts");
        return defineAppCommand(await load());
      },
    }),
  ),
  ...listEntries<string, CommandDefinition>(
    {
      "admin egress records": "Prints the DNS records to set up.",
      "admin egress test":
        "Tests whether mail servers accept sessions from each exit of this host or of a stage.",
    },
    async () => (await import("./egress-command.ts")).egressCommands,
  ),
  ...listEntries<string, CommandDefinition>(
    { "admin mail test": "Sends a mail through SMTP_URL, and prints what the relay answers." },
    async () => (await import("./relay-command.ts")).relayCommands,
  ),
  ...listEntries<string, CommandDefinition>(
    {
      "admin lists": "Shows the version, age, sizes and signature of the lists of domains.",
      "admin lists show":
        "Prints whether a list names a domain, why, and how the domain leaves the list.",
      "admin lists update":
        "Installs a newer edition of the lists; a running server takes it at once.",
      "admin lists rollback": "Installs the edition of the lists before the last update again.",
    },
    async () => (await import("./lists-command.ts")).listsCommands,
  ),
  {
    name: "admin sign-in test",
    summary:
      "Tests the set-up of the identity provider in this shell's settings; exit code 1 if a check fails.",
    load: async () => (await import("./sign-in-command.ts")).signInTestCommand,
  },
  {
    name: "admin backup",
    summary: "Writes a consistent copy of the whole state.",
    load: async () => (await import("./backup-command.ts")).backupCommand,
  },
  {
    name: "licences",
    summary: "Prints the licences of the parts of this program.",
    load: async () => (await import("./installation-commands.ts")).licencesCommand,
  },
];

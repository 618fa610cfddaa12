import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { findAbsentPackage, SERVERS } from "../mail-servers/sandbox.ts";
import { findToolAbsence, getToolFolder } from "./tools.ts";

// Programs that sign mail with DKIM and verify it, around libraries that others wrote. Each reads a task from each line of
// its input, and answers it in a line.

export type SignTask = {
  readonly do: "sign";
  /** In base64. */
  readonly mail: string;
  readonly kind: "rsa" | "ed25519";
  /** The RSA key, as PKCS #1 in PEM, or the seed of an Ed25519 key, in base64. */
  readonly key?: string;
  readonly seed?: string;
  readonly domain: string;
  readonly selector: string;
  /** The canonicalisations. */
  readonly header: string;
  readonly body: string;
  /** As in h=. */
  readonly names: readonly string[];
  /** Whether to sign with l=. */
  readonly length: boolean;
};

export type VerifyTask = {
  readonly do: "verify";
  readonly mail: string;
  /** The texts by the names of their keys. */
  readonly keys: Readonly<Record<string, string>>;
  /** How many signatures it has. */
  readonly count: number;
};

export type DkimProgram = {
  readonly name: string;
  /** Why it cannot be run here; null where it can. */
  readonly absence: string | null;
  readonly signsEd25519: boolean;
  readonly signsLength: boolean;
  readonly command: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
};

const SOURCES = join(import.meta.dirname, "tools");
const PERL = join(SERVERS, "libmail-dkim-perl/usr");

export const DKIM_PROGRAMS: readonly DkimProgram[] = [
  {
    name: "dkimpy",
    absence: findToolAbsence("dkimpy"),
    signsEd25519: true,
    signsLength: true,
    command: () => [join(getToolFolder("dkimpy"), "bin/python"), join(SOURCES, "dkimpy/run.py")],
  },
  {
    name: "Mail::DKIM",
    absence: findAbsentPackage({ debian: "libmail-dkim-perl" }),
    signsEd25519: false,
    signsLength: false,
    // Debian's own Perl, for which its packages are built.
    command: () => ["/usr/bin/perl", join(SOURCES, "mail-dkim/run.pl")],
    env: () => ({
      PERL5LIB: [join(PERL, "share/perl5"), ...globSync(join(PERL, "lib/*/perl5/*"))].join(":"),
    }),
  },
  {
    name: "go-msgauth",
    absence: findToolAbsence("go_msgauth"),
    signsEd25519: true,
    signsLength: false,
    command: () => [join(getToolFolder("go_msgauth"), "run")],
  },
];

type Answer = {
  readonly mail?: string;
  readonly results?: readonly boolean[];
  readonly error?: string;
};

const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** One process for all tasks: one for each would take longer to start than to work. */
export const runTasks = (
  { name, command, env }: DkimProgram,
  tasks: readonly (SignTask | VerifyTask)[],
): readonly Answer[] => {
  const [file = "", ...args] = command();
  const { status, stdout, stderr } = spawnSync(file, args, {
    input: tasks.map((task) => `${JSON.stringify(task)}\n`).join(""),
    env: { PATH: process.env["PATH"], ...env?.() },
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const answers = stdout.split("\n").filter((line) => line !== "");
  if (status !== 0 || answers.length !== tasks.length)
    throw new Error(`${name} ended with ${status} after ${answers.length} answers: ${stderr}`);
  return answers.map((line) => JSON.parse(line) as Answer);
};

import { mkdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { matching } from "../environment.ts";
import { readJsonFile, writeFileAtomic } from "../storage/atomic-file.ts";
import { UsageError } from "./define-command.ts";

// The store of `mailproof login`: services and their keys, each under the name of a profile.

export const DEFAULT_PROFILE = "default";

const Profile = v.object({ api: v.string(), key: v.string() });
const Profiles = v.object({ version: v.literal(1), profiles: v.record(v.string(), Profile) });

export type Profile = v.InferOutput<typeof Profile>;

export const ProfileName = matching(
  /^[\w.-]{1,40}$/,
  "must be a name of letters, digits, dots and dashes",
);

/** When the system does not know the user, as in a container or an empty root, uses the usual folder of containers. */
const findHome = (): string => {
  try {
    return homedir();
  } catch {
    return "/";
  }
};

/** The folder of configuration by the XDG Base Directory Specification, which requires an absolute path. */
const getProfilesFile = (): string => {
  const { XDG_CONFIG_HOME: folder = "" } = process.env;
  return join(
    folder.startsWith("/") ? folder : join(findHome(), ".config"),
    "mailproof/profiles.json",
  );
};

const OTHERS_MAY_READ = 0o077;

const readProfiles = (file: string): Readonly<Record<string, Profile>> => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return {};
  // Windows has no such bits, and reports every file as readable.
  if (process.platform !== "win32" && (found.mode & OTHERS_MAY_READ) !== 0)
    throw new UsageError(
      `${file} contains API keys and other users can read it. Run: chmod 600 ${file}`,
    );
  try {
    return readJsonFile(file, Profiles)?.profiles ?? {};
  } catch {
    throw new UsageError(`${file} cannot be read. Remove it, and log in again.`);
  }
};

export const findProfile = (name: string): Profile | undefined => {
  const profiles = readProfiles(getProfilesFile());
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
};

export const listProfileNames = (): readonly string[] =>
  Object.keys(readProfiles(getProfilesFile())).toSorted();

/** Returns the file. Only its owner can read it, from its first byte on. */
export const saveProfile = (name: string, profile: Profile): string => {
  const file = getProfilesFile();
  const profiles = { ...readProfiles(file), [name]: profile };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic(file, { version: 1, profiles });
  return file;
};

export const removeProfile = (name: string): boolean => {
  const file = getProfilesFile();
  const { [name]: removed, ...others } = readProfiles(file);
  if (removed === undefined) return false;
  if (Object.keys(others).length === 0) rmSync(file);
  else writeFileAtomic(file, { version: 1, profiles: others });
  return true;
};

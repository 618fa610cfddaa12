import { measureEditDistance } from "@mailproof/mail/signals/edit-distance";

// An environment has many variables of other programs, and none of those may stop a start. So a name counts as a misspelt setting only if
// it is one slip from a long setting, or two from a very long one, and that setting is not set. Names without an underscore belong to
// others: LOGLEVEL is in use elsewhere.

const LONG_LETTERS = 8;
const VERY_LONG_LETTERS = 16;
/** Kubernetes and Docker set such values for each service named "metric": METRIC_PORT=tcp://10.0.0.1:80. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

export type MisspeltSetting = { readonly name: string; readonly meant: string };

export const findMisspelt = (
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): readonly MisspeltSetting[] => {
  const unset = settings.filter((name) => env[name] === undefined && name.length >= LONG_LETTERS);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (settings.includes(name) || value === "" || SERVICE_LINK.test(value)) return [];
    const meant = unset.find((setting) => isNear(name, setting));
    return meant === undefined ? [] : [{ name, meant }];
  });
};

const isNear = (name: string, setting: string): boolean => {
  const slips = setting.length >= VERY_LONG_LETTERS ? 2 : 1;
  const written = name.toLowerCase().replaceAll("-", "_");
  if (!written.includes("_") && setting.includes("_")) return false;
  return measureEditDistance(written, setting.toLowerCase()) <= slips;
};

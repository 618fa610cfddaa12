import type { World } from "@mailproof/core/ports/world";
import { adminEntries } from "@mailproof/local/cli/admin";
import { Flag } from "@mailproof/local/cli/define-command";
import * as v from "valibot";

/** An operator's command as it is typed behind `admin`, without a process of its own. Any: see test/app/send.ts. */
export const runAdmin = async (world: World, line: string): Promise<any> => {
  const entry = adminEntries.find(({ name }) => `admin ${line} `.startsWith(`${name} `));
  if (!entry) throw new Error(`there is no command ${line}`);
  const definition = await entry.load();
  const { entries } = definition.options;
  const options: Record<string, string | boolean> = {};
  for (const [, name = "", value] of line.matchAll(/ --(\w+)(?:[ =]((?!--)\S+))?/g))
    options[name] = entries[name] === Flag ? true : (value ?? "");
  return (await definition.run(world, v.parse(definition.options, options))).output;
};

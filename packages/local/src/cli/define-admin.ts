import { Failure } from "@mailproof/core/lib/failure";
import type { Json } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import type { LocalWorld } from "../app.ts";
import type { Command } from "./define-command.ts";

export const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "must not be empty"),
  v.maxLength(100, "must have at most 100 characters"),
);
export type AdminResult = { readonly output: Json; readonly exitCode?: number };

export type AdminDefinition<
  O extends Command["options"] = Command["options"],
  W = LocalWorld,
> = Omit<Command<O>, "run"> & {
  /** Whether it may be the first thing that is ever done in a folder. */
  readonly mayCreateFolder?: true;
  run(world: W, options: v.InferOutput<O>): Promise<AdminResult>;
};

/** One that needs nothing of this machine: it is the same on a deployed stage (scripts/admin-on-aws.ts). */
export const definePortable = <O extends Command["options"]>(
  definition: AdminDefinition<O, World>,
): AdminDefinition<O, World> => definition;

export const createNoAccountError = (account: string) =>
  new Failure("NOT_FOUND", "nothing_charged", `No account ${account}.`);

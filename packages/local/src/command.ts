import type { Json } from "@mailproof/core/table";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";

type Options = v.StrictObjectSchema<v.ObjectEntries, undefined>;

export type Command<O extends Options = Options> = {
  readonly words: string;
  readonly usage: string;
  readonly options: O;
  /** Whether it may be the first thing that is ever done in a folder. */
  readonly mayBegin?: true;
  // Method syntax on purpose: it lets commands with different options live in one list.
  run(world: World, options: v.InferOutput<O>): Promise<{ output: Json; exitCode?: number }>;
};

/** Ties the command's types to the options beside it. */
export const command = <O extends Options>(definition: Command<O>): Command<O> => definition;

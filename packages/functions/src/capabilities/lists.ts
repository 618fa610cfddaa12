import { createLists } from "@mailproof/mail/lists/lists";
import { type Capability, createMissingEngine } from "../lambda-world.ts";
import { LIST_CHANGES } from "../list-changes.ts";

/** For what needs "lists" and no mail server: the lists that this deployment judges by, with the operator's changes. */
export const withLists: Capability = ({ now }) => ({
  engine: { ...createMissingEngine(now), lists: createLists(LIST_CHANGES) },
});

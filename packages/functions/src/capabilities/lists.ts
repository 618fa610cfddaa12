import { createLists } from "@mailproof/mail/lists/lists";
import { type Capability, createMissingEngine } from "../lambda-world.ts";
import { LIST_CHANGES } from "../list-changes.ts";

/** For a Lambda that needs "lists" and no mail server: this deployment's lists, with the operator's changes. */
export const withLists: Capability = ({ now }) => ({
  engine: { ...createMissingEngine(now), lists: createLists(LIST_CHANGES) },
});

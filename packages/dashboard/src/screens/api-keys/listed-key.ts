import type { ListApiKeysData } from "@mailproof/client";
import { account } from "../../session.ts";

export type ListedKey = ListApiKeysData["api_keys"][number];

export const isOwnKey = ({ key_id }: ListedKey): boolean => account.value?.key.key_id === key_id;

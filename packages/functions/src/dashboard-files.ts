import type { PackedTexts } from "./packed-texts.ts";

/** packages/functions/bundle.ts puts the files of the dashboard here. A live session, whose bundles SST makes, has none. */
export const PACKED_FILES: PackedTexts | null = null;

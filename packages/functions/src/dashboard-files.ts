import type { PackedTexts } from "./packed-texts.ts";

/** packages/functions/bundle.ts puts the files of the dashboard here. A live session lacks these files, because SST builds its bundles. */
export const PACKED_FILES: PackedTexts | null = null;

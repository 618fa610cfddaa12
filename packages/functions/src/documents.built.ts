import { endpoints } from "@mailproof/api/endpoints";
import { SEARCH_INDEX_PATH } from "@mailproof/docs-site/search-index";
import { texts } from "@mailproof/docs-site/texts";
import { packTexts } from "./packed-texts.ts";

// $default needs the endpoints' documentation and none of their code.

/** The index is made from the page. */
const { [SEARCH_INDEX_PATH]: _, ...packed } = texts();
export const PACKED_TEXTS = packTexts(packed);
export const ROUTES = endpoints.map(({ route }) => ({ route }));

import { endpoints } from "@mailproof/api/endpoints";
import { texts } from "@mailproof/docs-site/texts";
import { packTexts } from "./packed-texts.ts";

// $default needs the endpoints' documentation and none of their code.

export const PACKED_TEXTS = packTexts(texts());
export const ROUTES = endpoints.map(({ route }) => ({ route }));

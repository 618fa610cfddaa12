import { endpoints } from "@mailproof/api/endpoints";
import { compressJson } from "@mailproof/core/lib/compress";
import { texts } from "@mailproof/docs-site/texts";

// $default needs the endpoints' documentation and none of their code.

export const PACKED_TEXTS = compressJson(texts());
export const ROUTES = endpoints.map(({ route }) => ({ route }));

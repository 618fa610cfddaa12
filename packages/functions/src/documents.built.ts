import { brotliCompressSync, constants } from "node:zlib";
import { endpoints } from "@mailproof/api/endpoints";
import { texts } from "@mailproof/docs-site/texts";

// $default needs the endpoints' documentation and none of their code.

/** The pages repeat much of one another: a window over all of them makes them a quarter of what deflate does. */
const WINDOW = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } };

export const PACKED_TEXTS = brotliCompressSync(JSON.stringify(texts()), WINDOW).toString("base64");
export const ROUTES = endpoints.map(({ route }) => ({ route }));

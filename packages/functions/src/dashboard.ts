import {
  ASSET_CACHE_CONTROL,
  createPagePolicy,
  type DashboardRequest,
  findDashboardFile,
  getContentType,
  isForDashboard,
  PAGE_FILE,
  PAGE_HEADERS,
  redirectToDashboard,
} from "@mailproof/api/http/dashboard-files";
import type { HttpAnswer } from "@mailproof/api/http/respond";
import { PACKED_FILES } from "./dashboard-files.ts";
import { type PackedTexts, unpackTexts } from "./packed-texts.ts";

type Settings = Readonly<Record<string, string | undefined>>;

/** API Gateway and CloudFront are reached by TLS alone, so browsers may ask for it from the first visit on: for two years. */
const COMMON = {
  "strict-transport-security": "max-age=63072000",
  "x-content-type-options": "nosniff",
};

/** A list is uploaded to S3, by a presigned link. */
const createHeaders = (path: string, { BUCKET_NAME, AWS_REGION }: Settings) =>
  path === PAGE_FILE
    ? {
        ...COMMON,
        ...PAGE_HEADERS,
        "content-security-policy": createPagePolicy(
          `https://${BUCKET_NAME}.s3.${AWS_REGION}.amazonaws.com`,
        ),
      }
    : {
        ...COMMON,
        "content-type": getContentType(path),
        "cache-control": ASSET_CACHE_CONTROL,
      };

const unpack = (packed: PackedTexts, settings: Settings): ReadonlyMap<string, HttpAnswer<string>> =>
  new Map(
    [...unpackTexts(packed)].map(([path, body]) => [
      path,
      { statusCode: 200, headers: createHeaders(path, settings), body },
    ]),
  );

/** The dashboard on AWS, at the root of its host. Undefined when the request is for another part. */
export const createDashboard = (settings: Settings, packed = PACKED_FILES) => {
  let files: ReturnType<typeof unpack> | undefined;
  return (request: DashboardRequest): HttpAnswer<string> | undefined => {
    if (packed === null || settings["DASHBOARD"] === "none") return undefined;
    if (!isForDashboard(request)) return undefined;
    files ??= unpack(packed, settings);
    return redirectToDashboard(request) ?? findDashboardFile(files, request);
  };
};

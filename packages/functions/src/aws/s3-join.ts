import { UploadPartCopyCommand } from "@aws-sdk/client-s3";
import { type BlobMetadata, type Blobs, concatBlobs } from "@mailproof/core/ports/blobs";
import { requireOk } from "./requests.ts";
import {
  type S3,
  type S3Object,
  type Upload,
  type UploadedPart,
  uploadInParts,
  uploadPart,
} from "./s3-upload.ts";

type Source = BlobMetadata & { readonly key: string };

/** S3 copies an object of this size or more as a part of another. Only the last part may be smaller. */
const COPY_BYTES_MIN = 5 * 2 ** 20;

/** S3 copies the objects itself. Small ones are read, and sent together as one part. */
export const joinObjects = async (
  context: S3,
  target: S3Object,
  sources: readonly Source[],
  blobs: Pick<Blobs, "get">,
): Promise<BlobMetadata> =>
  uploadInParts(context, target, async (upload) => {
    const pending = groupSources(sources).map((group, at) =>
      sendGroup(context, { upload, number: at + 1, group, blobs }),
    );
    // S3 would keep a part that arrives after the upload is aborted.
    await Promise.allSettled(pending);
    const bytes = sources.reduce((sum, source) => sum + source.bytes, 0);
    return { parts: await Promise.all(pending), bytes };
  });

/** Each group becomes a part: one object of the size that S3 copies, or several objects with that size in total. */
const groupSources = (sources: readonly Source[]): readonly (readonly Source[])[] => {
  const groups: Source[][] = [];
  let openBytes = Infinity;
  for (const source of sources) {
    if (openBytes >= COPY_BYTES_MIN) {
      groups.push([]);
      openBytes = 0;
    }
    groups.at(-1)?.push(source);
    openBytes += source.bytes;
  }
  return groups;
};

type Group = {
  readonly upload: Upload;
  readonly number: number;
  readonly group: readonly Source[];
  readonly blobs: Pick<Blobs, "get">;
};

const sendGroup = async (
  context: S3,
  { upload, number, group, blobs }: Group,
): Promise<UploadedPart> => {
  const [source] = group;
  if (group.length === 1 && source) return copyPart(context, upload, number, source);
  const keys = group.map(({ key }) => key);
  const body = Buffer.concat(await Array.fromAsync(concatBlobs(blobs, keys)));
  return uploadPart(context, upload, number, body);
};

/** `version`: if the object has changed meanwhile, S3 refuses. */
const copyPart = async (
  { s3, send }: S3,
  upload: Upload,
  PartNumber: number,
  { key, version }: Source,
): Promise<UploadedPart> => {
  const command = {
    ...upload,
    PartNumber,
    CopySource: `${upload.Bucket}/${key}`,
    CopySourceIfMatch: version,
  };
  const reply = await send(() => s3.send(new UploadPartCopyCommand(command)));
  return { PartNumber, ETag: requireOk("copy a part", reply).CopyPartResult?.ETag };
};

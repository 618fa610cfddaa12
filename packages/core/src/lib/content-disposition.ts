/**
 * A Content-Disposition that saves a file under this name in every browser (RFC 6266): ASCII letters for old browsers, the
 * exact name for the others. No character of the name can end the header or start another.
 */
export const toContentDisposition = (fileName: string): string => {
  const asciiName = fileName.replaceAll(/[^\w. -]/g, "_");
  const encodedName = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    percentEncode,
  );
  return `attachment; filename="${asciiName}"; filename*=UTF-8''${encodedName}`;
};

const percentEncode = (letter: string): string =>
  `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;

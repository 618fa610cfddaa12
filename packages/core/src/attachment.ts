/**
 * A Content-Disposition that saves a file under this name in every browser (RFC 6266): plain letters for
 * old ones, the exact name for the others. Nothing in a name can end the header or start another.
 */
export const attachment = (fileName: string): string => {
  const plain = fileName.replaceAll(/[^\w. -]/g, "_");
  const exact = encodeURIComponent(fileName.toWellFormed()).replaceAll(/['()*]/g, percentEncoded);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
};

const percentEncoded = (letter: string): string =>
  `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;

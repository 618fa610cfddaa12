/** A zip archive, as the reader of spreadsheets needs it: in a file of this machine, or in a browser's. */
export type ZipFile = {
  readonly has: (name: string) => boolean;
  /** The bytes of an entry. Throws once there are more than this many. */
  readonly read: (name: string, bytesMax: number) => AsyncGenerator<Uint8Array>;
};

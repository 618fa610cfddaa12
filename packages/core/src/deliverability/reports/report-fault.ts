export class ReportFault extends Error {
  /** The element or the field, such as `feedback.record[3].row.count`. */
  readonly path: string;
  readonly what: string;
  readonly isTooLarge: boolean;

  constructor(path: string, what: string, { isTooLarge = false } = {}) {
    super(`${path}: ${what}`);
    this.path = path;
    this.what = what;
    this.isTooLarge = isTooLarge;
  }
}

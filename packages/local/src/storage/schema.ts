import type { SqliteLayout } from "./sqlite.ts";

// The tables of the two database files. A change of a table, or of what its items mean that a codec cannot read, raises the
// version and adds a step from the version before: operators upgrade with data in place (upgrade-folder.ts).

// A row stores the whole item as JSON, beside the columns that queries use. With rowid: result pages of many
// kilobytes would make the tree of a WITHOUT ROWID table deep.
const ITEMS = `
  CREATE TABLE items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, item TEXT NOT NULL, expires_at INTEGER,
    list_pk TEXT, list_sk TEXT, due_pk TEXT, due_sk TEXT,
    PRIMARY KEY (pk, sk)
  ) STRICT;
  CREATE INDEX items_list ON items (list_pk, list_sk, pk, sk) WHERE list_pk IS NOT NULL;
  CREATE INDEX items_due ON items (due_pk, due_sk, pk, sk) WHERE due_pk IS NOT NULL;
  CREATE INDEX items_expiry ON items (expires_at) WHERE expires_at IS NOT NULL`;

export const TABLE_LAYOUT: SqliteLayout = { version: 1, schema: ITEMS, steps: [] };

// A message is ready from the moment at which it is visible. Ready messages are handed out by turns of their groups:
// `turns` has a row for each group that has ready messages. The group with the lowest turn is next, and then moves to
// the end. So handing out one message takes a few steps in these indexes, however many messages and groups there are.
const MESSAGES = `
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL, visible_at INTEGER NOT NULL,
    grp TEXT NOT NULL, weight INTEGER NOT NULL, position INTEGER NOT NULL, last INTEGER NOT NULL,
    ready INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, receipt TEXT
  ) STRICT;
  CREATE UNIQUE INDEX messages_receipt ON messages (receipt) WHERE receipt IS NOT NULL;
  CREATE INDEX messages_hidden ON messages (queue, visible_at) WHERE ready = 0;
  CREATE INDEX messages_ready ON messages (queue, last, grp, position, visible_at, id) WHERE ready = 1;
  CREATE TABLE turns (
    queue TEXT NOT NULL, last INTEGER NOT NULL, grp TEXT NOT NULL, turn INTEGER NOT NULL,
    PRIMARY KEY (queue, last, grp)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX turns_next ON turns (queue, last, turn)`;

export const QUEUE_LAYOUT: SqliteLayout = { version: 1, schema: MESSAGES, steps: [] };

export type FolderLayouts = Readonly<Record<string, SqliteLayout>>;

/** The database files of a folder. */
export const LAYOUTS: FolderLayouts = {
  "state.sqlite": TABLE_LAYOUT,
  "queue.sqlite": QUEUE_LAYOUT,
};

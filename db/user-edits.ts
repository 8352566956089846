/** Changes of a person that touch metadata: merged at the top level, where null deletes a key. */
import { type QueryCreator, sql } from 'kysely'

import { type AuditValues, auditInsert, auditValues, type TrailEntry } from './audit-log-entries.ts'
import type { Database, Db } from './database.ts'
import { type EventValues, eventInsert, eventUser, eventValues } from './event-inbox.ts'
import {
  fits,
  type MetadataChange,
  type MetadataName,
  type MetadataValues,
  mergedColumns,
  metadataNames,
  metadataValues,
} from './metadata-merge.ts'
import {
  namesIn,
  preparedFor,
  preparedOneRow,
  preparedSharedRow,
  preparedWrite,
  type ValueOf,
  valuesOf,
} from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import type { UserChange } from './user-rows.ts'
import type { Metadata, UserRow } from './users.ts'

/** What one statement may change of a person. */
export interface UserEdit extends MetadataChange {
  columns?: UserChange | undefined
}

interface Key {
  key: string
  now: Date
}

type Limited = MetadataValues & Key & { maxBytes: number }

/** What an edit of metadata changes: the rest is not read once more. */
const editedColumns = ['raw_app_meta_data', 'raw_user_meta_data', 'updated_at'] as const

const isEdited = sql<boolean>`exists (select from edited)`

function edit(db: QueryCreator<Database>, value: ValueOf<Limited>, names: readonly MetadataName[]) {
  return db
    .updateTable('users')
    .set({ updated_at: value('now'), ...mergedColumns(value, names) })
    .where('id', '=', value('key'))
    .where(fits(value, names))
}

const edited = preparedFor((names: readonly MetadataName[]) =>
  preparedSharedRow((db, value: ValueOf<Limited & AuditValues>) =>
    db
      .with('edited', (eb) => edit(eb, value, names).returning(editedColumns))
      .with('audited', (eb) => auditInsert(eb, value, isEdited))
      .selectFrom('edited')
      .select(editedColumns),
  ),
)

const editedAndTold = preparedFor((names: readonly MetadataName[]) =>
  preparedSharedRow((db, value: ValueOf<Limited & AuditValues & EventValues>) =>
    db
      .with('edited', (eb) => edit(eb, value, names).returning(userColumns))
      .with('audited', (eb) => auditInsert(eb, value, isEdited))
      .with('told', (eb) =>
        eventInsert(
          eb,
          value,
          eb.selectFrom('edited').select(eventUser('edited').as('user')),
          isEdited,
        ),
      )
      .selectFrom('edited')
      .select(editedColumns),
  ),
)

/**
 * The change, the audit entry, the events and what the row holds then, in one round trip. Undefined, and nothing is written, when
 * metadata would have more than `maxBytes` and more than it has, or when nobody has this id.
 */
export function editUser(
  db: Db,
  id: string,
  change: MetadataChange,
  maxBytes: number,
  audit: TrailEntry,
  now: Date,
): Promise<Pick<UserRow, (typeof editedColumns)[number]> | undefined> {
  const values = { ...metadataValues(change), ...auditValues(audit), key: id, maxBytes, now }
  const names = metadataNames(change)
  if (audit.events.length === 0) return edited(names)(db, values)
  return editedAndTold(names)(db, { ...values, ...eventValues(audit.events) })
}

const renewed = preparedWrite((db, value: ValueOf<Key & { old: string; renewed: string }>) =>
  db
    .updateTable('users')
    .set({ encrypted_password: value('renewed'), updated_at: value('now') })
    .where('id', '=', value('key'))
    .where('encrypted_password', '=', value('old')),
)

/** Another hash of the same password; false when another one is stored by now. */
export async function renewPasswordHash(
  db: Db,
  id: string,
  hashes: { old: string; renewed: string },
  now: Date,
): Promise<boolean> {
  return (await renewed(db, { ...hashes, key: id, now })) > 0
}

/**
 * Marks the address as proven, from now on or since whenever it was, along with `edit`. Returns the address that the
 * account has then; throws when nobody has this id.
 */
export function confirmEmail(
  db: Db,
  id: string,
  edit: UserEdit,
  now: Date,
): Promise<{ email: string | null }> {
  return emailConfirmed(editNames(edit))(db, editValues(id, edit, now))
}

/** As `confirmEmail`, for the phone number. */
export async function confirmPhone(db: Db, id: string, edit: UserEdit, now: Date): Promise<void> {
  await phoneConfirmed(editNames(edit))(db, editValues(id, edit, now))
}

const emailConfirmed = confirmed('email_confirmed_at')
const phoneConfirmed = confirmed('phone_confirmed_at')

function confirmed(column: 'email_confirmed_at' | 'phone_confirmed_at') {
  return preparedFor((names: readonly (keyof UserChange | MetadataName)[]) =>
    preparedOneRow((db, value: ValueOf<UserChange & MetadataValues & Key>) =>
      db
        .updateTable('users')
        .set({
          [column]: sql`coalesce(${sql.ref(column)}, ${value('now')})`,
          is_anonymous: sql.lit(false),
          ...valuesOf(value, names.filter(isColumn)),
          updated_at: value('now'),
          ...mergedColumns(value, names),
        })
        .where('id', '=', value('key'))
        .returning('email'),
    ),
  )
}

const isColumn = (name: keyof UserChange | MetadataName) => name !== 'app' && name !== 'user'

function editNames(edit: UserEdit): (keyof UserChange | MetadataName)[] {
  return [...namesIn(edit.columns ?? {}), ...metadataNames(edit)]
}

function editValues(id: string, edit: UserEdit, now: Date) {
  return { ...edit.columns, ...metadataValues(edit), key: id, now }
}

const mergedOnly = preparedFor((names: readonly MetadataName[]) =>
  preparedWrite((db, value: ValueOf<Limited>) =>
    db
      .updateTable('users')
      .set({ updated_at: value('now'), ...mergedColumns(value, names) })
      .where('id', '=', value('key'))
      .where(fits(value, names)),
  ),
)

/** False, and nothing is written, when metadata would have more than `maxBytes` and more than it has. */
export async function mergeMetadata(
  db: Db,
  id: string,
  change: MetadataChange,
  maxBytes: number,
  now: Date,
): Promise<boolean> {
  const values = { ...metadataValues(change), key: id, maxBytes, now }
  return (await mergedOnly(metadataNames(change))(db, values)) > 0
}

const replaceOwn = preparedWrite((db, value: ValueOf<Key & { data: string }>) =>
  db
    .updateTable('users')
    .set({ raw_user_meta_data: value('data'), updated_at: value('now') })
    .where('id', '=', value('key')),
)

/** Replaces a metadata object whole: for an account whose earlier data was nobody's proven own. */
export async function replaceUserMetadata(db: Db, id: string, metadata: Metadata, now: Date) {
  await replaceOwn(db, { key: id, data: JSON.stringify(metadata), now })
}

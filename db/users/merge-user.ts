/** Updates of a user with metadata, which is merged at the top level; null deletes a key. */
import { type QueryCreator, sql } from 'kysely'

import {
  type AuditValues,
  auditInsert,
  auditValues,
  type NewAuditLogEntry,
} from '../audit/audit-log-entries.ts'
import type { Database, Db } from '../core/database.ts'
import {
  bindParams,
  executeStatement,
  listChangedKeys,
  type ParamOf,
  queryOneBatched,
  queryOneOrThrow,
  queryVariants,
} from '../core/statement.ts'
import { type EventValues, eventInsert, eventUser, eventValues } from '../events/outbox.ts'
import { type AssumptionCause, type UserMetadata, userColumns } from '../tables/users.ts'
import { insertAssumed } from './autoconfirmed-addresses.ts'
import {
  isWithinMaxBytes,
  type MetadataChange,
  type MetadataLimits,
  type MetadataName,
  type MetadataValues,
  mergedColumns,
  metadataNames,
  metadataValues,
} from './metadata-merge.ts'
import type { UserChange } from './update-user.ts'
import { hasTriggers, type UserRow, usersTableId } from './users.ts'

/** What one statement may change of a user. */
interface UserEdit extends MetadataChange {
  columns?: UserChange | undefined
}

interface Key {
  key: string
  now: Date
}

type Limited = MetadataValues & MetadataLimits & Key

/** The changed columns that are returned; the others are known. */
const editedColumns = ['raw_app_meta_data', 'raw_user_meta_data', 'updated_at'] as const

const isEdited = sql<boolean>`exists (select from edited)`

function edit(db: QueryCreator<Database>, value: ParamOf<Limited>, names: readonly MetadataName[]) {
  return db
    .updateTable('users')
    .set({ updated_at: value('now'), ...mergedColumns(value, names) })
    .where('id', '=', value('key'))
    .where(isWithinMaxBytes(value, names))
}

const edited = queryVariants((names: readonly MetadataName[]) =>
  queryOneBatched((db, value: ParamOf<Limited & AuditValues>) =>
    db
      .with('edited', (eb) => edit(eb, value, names).returning(editedColumns))
      .with('audited', (eb) => auditInsert(eb, value, isEdited))
      .selectFrom('edited')
      .select(editedColumns),
  ),
)

const editWithEvents = queryVariants((names: readonly MetadataName[]) =>
  queryOneBatched((db, value: ParamOf<Limited & AuditValues & EventValues>) =>
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
 * Stores the change, the audit entry and the events and returns the new columns in one round trip. Returns undefined,
 * with nothing written, when metadata would exceed `limits` and grow, or when there is no such user.
 */
export function editUser(
  db: Db,
  id: string,
  change: MetadataChange,
  limits: MetadataLimits,
  audit: NewAuditLogEntry,
  now: Date,
): Promise<Pick<UserRow, (typeof editedColumns)[number]> | undefined> {
  const values = { ...metadataValues(change), ...auditValues(audit), ...limits, key: id, now }
  const names = metadataNames(change)
  if (audit.events.length === 0) return edited(names)(db, values)
  return editWithEvents(names)(db, { ...values, ...eventValues(audit.events) })
}

/**
 * Marks the email as confirmed, keeping an earlier time, together with `edit`, and records who confirmed it instead of
 * its holder. Returns the row, which a trigger may have changed since; throws when there is no such user.
 */
export async function setEmailConfirmed(
  db: Db,
  id: string,
  { assumedBy, ...edit }: UserEdit & { assumedBy: AssumptionCause | null },
  now: Date,
): Promise<{ row: UserRow; hasTriggers: boolean }> {
  const values = { ...editValues(id, edit, now), assumedBy }
  const {
    table_id: _table,
    has_triggers,
    ...row
  } = await emailConfirmed(editNames(edit))(db, values)
  return { row, hasTriggers: has_triggers }
}

/** As `setEmailConfirmed`, for the phone number. */
export async function setPhoneConfirmed(
  db: Db,
  id: string,
  edit: UserEdit,
  now: Date,
): Promise<void> {
  await phoneConfirmed(editNames(edit))(db, editValues(id, edit, now))
}

type Confirmation = UserChange & MetadataValues & Key
type EditName = keyof UserChange | MetadataName

const emailConfirmed = queryVariants((names: readonly EditName[]) =>
  queryOneOrThrow((db, value: ParamOf<Confirmation & { assumedBy: AssumptionCause | null }>) =>
    db
      .with('confirmed', (eb) =>
        confirm(eb, value, 'email_confirmed_at', names)
          .returning(userColumns)
          .returning(usersTableId),
      )
      .with('assumed', (eb) =>
        insertAssumed(
          eb,
          sql`select id, email, ${value('now')}::timestamptz, ${value('assumedBy')}::text from confirmed
            where email is not null and ${value('assumedBy')}::text is not null`,
        ),
      )
      .selectFrom('confirmed')
      .selectAll()
      .select(hasTriggers('confirmed').as('has_triggers')),
  ),
)

const phoneConfirmed = queryVariants((names: readonly EditName[]) =>
  queryOneOrThrow((db, value: ParamOf<Confirmation>) =>
    confirm(db, value, 'phone_confirmed_at', names).returning('email'),
  ),
)

const confirm = (
  db: Pick<QueryCreator<Database>, 'updateTable'>,
  value: ParamOf<Confirmation>,
  column: 'email_confirmed_at' | 'phone_confirmed_at',
  names: readonly EditName[],
) =>
  db
    .updateTable('users')
    .set({
      [column]: sql`coalesce(${sql.ref(column)}, ${value('now')})`,
      is_anonymous: sql.lit(false),
      ...bindParams(value, names.filter(isColumn)),
      updated_at: value('now'),
      ...mergedColumns(value, names),
    })
    .where('id', '=', value('key'))

const isColumn = (name: EditName) => name !== 'app' && name !== 'user'

function editNames(edit: UserEdit): EditName[] {
  return [...listChangedKeys(edit.columns ?? {}), ...metadataNames(edit)]
}

function editValues(id: string, edit: UserEdit, now: Date) {
  return { ...edit.columns, ...metadataValues(edit), key: id, now }
}

const mergedOnly = queryVariants((names: readonly MetadataName[]) =>
  executeStatement((db, value: ParamOf<Limited>) =>
    db
      .updateTable('users')
      .set({ updated_at: value('now'), ...mergedColumns(value, names) })
      .where('id', '=', value('key'))
      .where(isWithinMaxBytes(value, names)),
  ),
)

/** Returns false, with nothing written, when metadata would exceed `limits` and grow. */
export async function mergeMetadata(
  db: Db,
  id: string,
  change: MetadataChange,
  limits: MetadataLimits,
  now: Date,
): Promise<boolean> {
  const values = { ...metadataValues(change), ...limits, key: id, now }
  return (await mergedOnly(metadataNames(change))(db, values)) > 0
}

const replaceOwn = executeStatement((db, value: ParamOf<Key & { data: string }>) =>
  db
    .updateTable('users')
    .set({ raw_user_meta_data: value('data'), updated_at: value('now') })
    .where('id', '=', value('key')),
)

/** Replaces a metadata object as a whole, for an account whose earlier data was never verified. */
export async function replaceUserMetadata(db: Db, id: string, metadata: UserMetadata, now: Date) {
  await replaceOwn(db, { key: id, data: JSON.stringify(metadata), now })
}

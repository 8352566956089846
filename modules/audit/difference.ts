/** The changed fields of a record before and after a change, as in admin responses. */
import { type SigningKeySource, toSigningKey } from '../../schemas/signing-key.ts'
import { toUser, type UserSource } from '../../schemas/user.ts'
import { isRecord } from '../../schemas/values/record.ts'

type Shown = Record<string, unknown>

interface Difference {
  before?: Shown
  after?: Shown
}

/** Longer values, in bytes of JSON, are replaced by their length: users decide the size of their metadata. */
const maxValueLength = 1024

/** Compares field by field, and key by key in objects. A created or deleted record has one side only. */
export function changedFields(before: Shown | undefined, after: Shown | undefined): Difference {
  const [old, made] = [
    differingFields(before ?? {}, after ?? {}),
    differingFields(after ?? {}, before ?? {}),
  ]
  return {
    ...(Object.keys(old).length > 0 && { before: old }),
    ...(Object.keys(made).length > 0 && { after: made }),
  }
}

/** The same for a user, without fields that change automatically or are derived. */
export function changedUserFields(
  before: UserSource | undefined,
  after: UserSource | undefined,
): Difference {
  return changedFields(before && shown(before), after && shown(after))
}

/** For a deletion: the audit log keeps no more personal data of the user. */
export function deletedUserDetails(before: UserSource): Difference {
  return changedUserFields({ ...before, raw_user_meta_data: {} }, undefined)
}

/** For signing keys, by id: revoking one may make another current. */
export function changedKeyFields(change: KeyRows): Difference {
  return changedFields(byKid(change.before), byKid(change.after))
}

interface KeyRows {
  before: SigningKeySource[]
  after: SigningKeySource[]
}

function byKid(rows: SigningKeySource[]): Shown {
  return Object.fromEntries(rows.map((row) => [row.kid, { ...toSigningKey(row, []) }]))
}

function shown(row: UserSource): Shown {
  const { id, created_at, updated_at, identities, factors, ...fields } = toUser(row)
  return fields
}

function differingFields(record: Shown, other: Shown): Shown {
  const fields = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    if (isSame(value, other[name])) return []
    if (!isRecord(value)) return [[name, brief(value)]]
    const keys = differingKeys(value, other[name])
    return keys.length > 0 ? [[name, Object.fromEntries(keys)]] : []
  })
  return Object.fromEntries(fields)
}

function differingKeys(value: Shown, other: unknown): [string, unknown][] {
  const known = isRecord(other) ? other : {}
  return Object.entries(value)
    .filter(([key, each]) => !isSame(each, known[key]))
    .map(([key, each]) => [key, brief(each)])
}

/** Both come from the database, which sorts the keys of an object. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function brief(value: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return bytes > maxValueLength ? `(${bytes} bytes)` : value
}

/** What a change made of a record: before and after of the fields that differ, in the form that admins are shown. */
import { isRecord } from '../../../schemas/record.ts'
import { type SigningKeySource, toSigningKey } from '../../../schemas/signing-key.ts'
import { toUser, type UserSource } from '../../../schemas/user.ts'

type Shown = Record<string, unknown>

export interface Difference {
  before?: Shown
  after?: Shown
}

/** Longer values, in bytes of JSON, are named by their length: people decide how much their metadata hold. */
const longestValue = 1024

/** Field by field, and key by key in fields that are objects. A record that came or went has one side only. */
export function difference(before: Shown | undefined, after: Shown | undefined): Difference {
  const [old, made] = [unlike(before ?? {}, after ?? {}), unlike(after ?? {}, before ?? {})]
  return {
    ...(Object.keys(old).length > 0 && { before: old }),
    ...(Object.keys(made).length > 0 && { after: made }),
  }
}

/** The same of a person, without what changes by itself or follows from the rest. */
export function personDifference(
  before: UserSource | undefined,
  after: UserSource | undefined,
): Difference {
  return difference(before && shown(before), after && shown(after))
}

/** A deletion, after which the trail keeps no more of what the person said of themselves. */
export function personDeleted(before: UserSource): Difference {
  return personDifference({ ...before, raw_user_meta_data: {} }, undefined)
}

/** Of the signing keys, by their ids: one that is revoked may put another to work. */
export function keyDifference(change: KeyRows): Difference {
  return difference(byKid(change.before), byKid(change.after))
}

interface KeyRows {
  before: SigningKeySource[]
  after: SigningKeySource[]
}

function byKid(rows: SigningKeySource[]): Shown {
  return Object.fromEntries(rows.map((row) => [row.kid, { ...toSigningKey(row) }]))
}

function shown(row: UserSource): Shown {
  const { id, created_at, updated_at, identities, factors, ...fields } = toUser(row)
  return fields
}

function unlike(record: Shown, other: Shown): Shown {
  const fields = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    if (isSame(value, other[name])) return []
    if (!isRecord(value)) return [[name, brief(value)]]
    const keys = unlikeKeys(value, other[name])
    return keys.length > 0 ? [[name, Object.fromEntries(keys)]] : []
  })
  return Object.fromEntries(fields)
}

function unlikeKeys(value: Shown, other: unknown): [string, unknown][] {
  const known = isRecord(other) ? other : {}
  return Object.entries(value)
    .filter(([key, each]) => !isSame(each, known[key]))
    .map(([key, each]) => [key, brief(each)])
}

/** Both come out of the database, which keeps the keys of an object in one order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function brief(value: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  return bytes > longestValue ? `(${bytes} bytes)` : value
}

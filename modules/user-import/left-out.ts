/** What an import does not store of a row, so that no field is dropped in silence. */
import { isRecord } from '../../schemas/values/record.ts'

/** How many rows have a field that is not stored, by its name. */
export type LeftOut = Map<string, number>

const maxNames = 100
const maxNameLength = 100

/** A field, and the one that takes precedence. */
const alternatives = [
  ['encrypted_password', 'password_hash'],
  ['raw_app_meta_data', 'app_metadata'],
  ['raw_user_meta_data', 'user_metadata'],
] as const

const rowFields = new Set([
  'id',
  'aud',
  'role',
  'email',
  'phone',
  'identities',
  'is_anonymous',
  'is_sso_user',
  'email_confirm',
  'email_confirmed_at',
  'phone_confirm',
  'phone_confirmed_at',
  'created_at',
  'updated_at',
  'last_sign_in_at',
  'invited_at',
  'banned_until',
  'deleted_at',
  ...alternatives.flat(),
])

/** `identity_id`, `user_id` and `email` are in exports of GoTrue, and follow from the others. */
const identityFields = new Set([
  'id',
  'provider',
  'provider_id',
  'identity_data',
  'last_sign_in_at',
  'created_at',
  'updated_at',
  'identity_id',
  'user_id',
  'email',
])

/** Counts the fields of a row that the import does not know, or that another field replaces. */
export function countLeftOut(leftOut: LeftOut, row: Record<string, unknown>): void {
  const replaced = alternatives.filter(
    ([name, other]) => !isEmpty(row[name]) && !isEmpty(row[other]),
  )
  const identities = Array.isArray(row.identities) ? row.identities.filter(isRecord) : []
  const names = new Set([
    ...findUnknown(row, rowFields),
    ...replaced.map(([name]) => name),
    ...identities.flatMap((identity) =>
      findUnknown(identity, identityFields).map((name) => `identities.${name}`),
    ),
  ])
  for (const name of names) add(leftOut, name)
}

/** For the operator: `left out: a (3), b (1)`; undefined without any. */
export function describeLeftOut(leftOut: LeftOut): string | undefined {
  const names = [...leftOut].map(([name, count]) => `${name} (${count})`)
  return names.length > 0 ? `left out: ${names.join(', ')}` : undefined
}

const findUnknown = (row: Record<string, unknown>, known: ReadonlySet<string>) =>
  Object.keys(row).filter((name) => !known.has(name) && !isEmpty(row[name]))

/** A value that says nothing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The file chooses the names: their number and length are limited, and they are printed on a terminal. */
function add(leftOut: LeftOut, name: string): void {
  const printable = name.slice(0, maxNameLength).replace(/\p{C}/gu, '?')
  const label = leftOut.has(printable) || leftOut.size < maxNames ? printable : 'other fields'
  leftOut.set(label, (leftOut.get(label) ?? 0) + 1)
}

/** Validates one row of an import and converts it to database columns. */
import { nilUuid } from '../../db/tables/users.ts'
import type { BulkIdentity, BulkUser } from '../../db/users/bulk.ts'
import { isPostgresValue } from '../../plugins/http/body-parser/storable.ts'
import { isSupportedHash } from '../../plugins/security/passwords/hashes.ts'
import { ApiError } from '../../schemas/errors.ts'
import { isUuid, normalizeEmail, normalizePhone } from '../../schemas/fields.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { countLeftOut, type LeftOut } from './left-out.ts'

export interface BulkRecord {
  line: number
  user: BulkUser
  identities: BulkIdentity[]
}

/** Why a row is rejected, for the operator. */
export class RejectedRow extends Error {
  override name = 'RejectedRow'
}

export interface Defaults {
  aud: string
  role: string
}

type Fields = Record<string, unknown>

/** Counts the fields that are not stored in `leftOut`. Throws RejectedRow. */
export function toBulkRecord(
  value: unknown,
  line: number,
  { defaults, leftOut }: { defaults: Defaults; leftOut: LeftOut },
  now: Date,
): BulkRecord {
  try {
    const record = readRecord(value, line, defaults, now)
    if (isRecord(value)) countLeftOut(leftOut, value)
    return record
  } catch (error) {
    throw error instanceof ApiError ? new RejectedRow(error.message) : error
  }
}

function readRecord(value: unknown, line: number, defaults: Defaults, now: Date): BulkRecord {
  if (value === undefined) throw new RejectedRow('it is not valid JSON')
  if (!isRecord(value)) throw new RejectedRow('it is not an object')
  if (!isPostgresValue(value)) {
    throw new RejectedRow(
      'it contains a character that Postgres cannot store, or is nested too deeply',
    )
  }
  const user = readUser(value, defaults, now)
  const identities = readIdentities(value, user)
  const isReachable = user.email || user.phone || identities.length > 0 || user.is_anonymous
  if (!isReachable) throw new RejectedRow('it has no email, phone or identity and is not anonymous')
  const providers = [...new Set(identities.map(({ provider }) => provider))]
  const app = { ...(providers[0] && { provider: providers[0], providers }), ...appMetadata(value) }
  return { line, user: { ...user, raw_app_meta_data: app }, identities }
}

function readUser(row: Fields, defaults: Defaults, now: Date): BulkUser {
  const created = time(row, 'created_at') ?? now.toISOString()
  return {
    id: readId(row),
    aud: short(row, 'aud') || defaults.aud,
    role: short(row, 'role') || defaults.role,
    email: optional(text(row, 'email'), normalizeEmail),
    phone: optional(text(row, 'phone'), normalizePhone),
    encrypted_password: readHash(row),
    email_confirmed_at: confirmation(row, 'email', created),
    phone_confirmed_at: confirmation(row, 'phone', created),
    invited_at: time(row, 'invited_at'),
    last_sign_in_at: time(row, 'last_sign_in_at'),
    created_at: created,
    updated_at: time(row, 'updated_at') ?? created,
    banned_until: time(row, 'banned_until'),
    deleted_at: time(row, 'deleted_at'),
    is_anonymous: flag(row, 'is_anonymous'),
    is_sso_user: flag(row, 'is_sso_user'),
    raw_app_meta_data: {},
    raw_user_meta_data: object(row, 'user_metadata') ?? object(row, 'raw_user_meta_data') ?? {},
  }
}

const appMetadata = (row: Fields) =>
  object(row, 'app_metadata') ?? object(row, 'raw_app_meta_data') ?? {}

function readId(row: Fields): string {
  const id = text(row, 'id')
  if (!id) return crypto.randomUUID()
  if (!isUuid(id) || id === nilUuid) throw new RejectedRow('id is not a UUID')
  return id.toLowerCase()
}

function readHash(row: Fields): string | null {
  if (text(row, 'password')) {
    throw new RejectedRow('plain-text passwords are not imported; use password_hash')
  }
  const hash = text(row, 'password_hash') ?? text(row, 'encrypted_password')
  if (!hash) return null
  if (!isSupportedHash(hash) || hash.length > 255) {
    throw new RejectedRow('password_hash has an unknown format, or is too expensive to verify')
  }
  return hash
}

/** A time, or a boolean that means the creation time. */
function confirmation(row: Fields, address: 'email' | 'phone', created: string): string | null {
  return time(row, `${address}_confirmed_at`) ?? (flag(row, `${address}_confirm`) ? created : null)
}

function readIdentities(row: Fields, user: BulkUser): BulkIdentity[] {
  const given = row.identities ?? []
  if (!Array.isArray(given)) throw new RejectedRow('identities is not an array')
  if (given.length > 0) return given.map((identity) => readIdentity(identity, user))
  return (['email', 'phone'] as const).flatMap((provider) =>
    user[provider] && !user.is_sso_user ? [buildOwnIdentity(user, provider)] : [],
  )
}

function buildOwnIdentity(user: BulkUser, provider: 'email' | 'phone'): BulkIdentity {
  const verified = {
    email_verified: provider === 'email' && user.email_confirmed_at !== null,
    phone_verified: provider === 'phone' && user.phone_confirmed_at !== null,
  }
  const data = { sub: user.id, [provider]: user[provider], ...verified }
  return buildIdentity(user, provider, user.id, data)
}

function readIdentity(given: unknown, user: BulkUser): BulkIdentity {
  if (!isRecord(given)) throw new RejectedRow('an identity is not an object')
  const provider = short(given, 'provider')
  const id = text(given, 'provider_id') ?? text(given, 'id')
  // Without an id: that of the row's own address.
  if (!id && (provider === 'email' || provider === 'phone') && user[provider]) {
    return buildOwnIdentity(user, provider)
  }
  if (!provider || !id) throw new RejectedRow('an identity has no provider or provider_id')
  const identity = buildIdentity(user, provider, id, object(given, 'identity_data') ?? {})
  return {
    ...identity,
    last_sign_in_at: time(given, 'last_sign_in_at'),
    created_at: time(given, 'created_at') ?? user.created_at,
    updated_at: time(given, 'updated_at') ?? user.created_at,
  }
}

function buildIdentity(
  user: BulkUser,
  provider: string,
  provider_id: string,
  identity_data: object,
) {
  const { id: user_id, last_sign_in_at, created_at, updated_at } = user
  const times = { last_sign_in_at, created_at, updated_at }
  return { user_id, provider, provider_id, identity_data, ...times }
}

function text(row: Fields, name: string): string | undefined {
  const value = row[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw new RejectedRow(`${name} is not a string`)
  return value
}

function short(row: Fields, name: string): string | undefined {
  const value = text(row, name)
  if (value && value.length > 255) throw new RejectedRow(`${name} is longer than 255 characters`)
  return value
}

function optional(value: string | undefined, read: (value: string) => string): string | null {
  return value === undefined ? null : read(value)
}

/** RFC 3339 in UTC, for years that JavaScript and Postgres format alike. A time without zone is UTC. */
function time(row: Fields, name: string): string | null {
  const value = text(row, name)
  if (value === undefined) return null
  const isLocal = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(value)
  const date = new Date(isLocal ? `${value}Z` : value)
  const isTime = date.getTime() >= -62_135_596_800_000 && date.getTime() < 253_402_300_800_000
  if (!isTime) throw new RejectedRow(`${name} is not a time`)
  return date.toISOString()
}

function flag(row: Fields, name: string): boolean {
  const value = row[name] ?? false
  if (typeof value !== 'boolean') throw new RejectedRow(`${name} is neither true nor false`)
  return value
}

function object(row: Fields, name: string): object | undefined {
  const value = row[name]
  if (value === undefined || value === null) return undefined
  if (!isRecord(value)) throw new RejectedRow(`${name} is not an object`)
  return value
}

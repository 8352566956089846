/** One row of an import, checked and brought into the form of the database. */
import type { BulkIdentity, BulkUser } from '../../db/bulk-users.ts'
import { nilUuid } from '../../db/users.ts'
import { ApiError } from '../../errors.ts'
import { isStorable } from '../../plugins/body-parser/storable.ts'
import { isSupportedHash } from '../../plugins/passwords/hashes.ts'
import { isUuid, normalizeEmail, normalizePhone } from '../../schemas/fields.ts'
import { isRecord } from '../../schemas/record.ts'

export interface BulkRecord {
  line: number
  user: BulkUser
  identities: BulkIdentity[]
}

/** Why a row is not taken, for the operator. */
export class RefusedRow extends Error {
  override name = 'RefusedRow'
}

export interface Defaults {
  aud: string
  role: string
}

type Fields = Record<string, unknown>

/** Throws RefusedRow. */
export function toBulkRecord(value: unknown, line: number, defaults: Defaults, now: Date) {
  try {
    return readRecord(value, line, defaults, now)
  } catch (error) {
    throw error instanceof ApiError ? new RefusedRow(error.message) : error
  }
}

function readRecord(value: unknown, line: number, defaults: Defaults, now: Date): BulkRecord {
  if (value === undefined) throw new RefusedRow('it is not valid JSON')
  if (!isRecord(value)) throw new RefusedRow('it is not an object')
  if (!isStorable(value)) {
    throw new RefusedRow('it holds a character that Postgres cannot store, or is nested too deeply')
  }
  const user = readUser(value, defaults, now)
  const identities = readIdentities(value, user)
  const isReachable = user.email || user.phone || identities.length > 0 || user.is_anonymous
  if (!isReachable) throw new RefusedRow('it has no email, phone or identity and is not anonymous')
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
  if (!isUuid(id) || id === nilUuid) throw new RefusedRow('id is not a UUID')
  return id.toLowerCase()
}

function readHash(row: Fields): string | null {
  if (text(row, 'password')) {
    throw new RefusedRow('passwords in clear are not imported; bring password_hash')
  }
  const hash = text(row, 'password_hash') ?? text(row, 'encrypted_password')
  if (!hash) return null
  if (!isSupportedHash(hash) || hash.length > 255) {
    throw new RefusedRow('password_hash is of no known format, or costs too much to verify')
  }
  return hash
}

/** A time, or a flag that stands for the time the account was made. */
function confirmation(row: Fields, address: 'email' | 'phone', created: string): string | null {
  return time(row, `${address}_confirmed_at`) ?? (flag(row, `${address}_confirm`) ? created : null)
}

function readIdentities(row: Fields, user: BulkUser): BulkIdentity[] {
  const given = row.identities ?? []
  if (!Array.isArray(given)) throw new RefusedRow('identities is not a list')
  if (given.length > 0) return given.map((identity) => readIdentity(identity, user))
  return (['email', 'phone'] as const).flatMap((provider) => {
    const address = user[provider]
    if (!address || user.is_sso_user) return []
    const verified = {
      email_verified: provider === 'email' && user.email_confirmed_at !== null,
      phone_verified: provider === 'phone' && user.phone_confirmed_at !== null,
    }
    const data = { sub: user.id, [provider]: address, ...verified }
    return [identityOf(user, provider, user.id, data)]
  })
}

function readIdentity(given: unknown, user: BulkUser): BulkIdentity {
  if (!isRecord(given)) throw new RefusedRow('an identity is not an object')
  const provider = short(given, 'provider')
  const id = text(given, 'provider_id') ?? text(given, 'id')
  if (!provider || !id) throw new RefusedRow('an identity lacks its provider or provider_id')
  const identity = identityOf(user, provider, id, object(given, 'identity_data') ?? {})
  return {
    ...identity,
    last_sign_in_at: time(given, 'last_sign_in_at'),
    created_at: time(given, 'created_at') ?? user.created_at,
    updated_at: time(given, 'updated_at') ?? user.created_at,
  }
}

function identityOf(user: BulkUser, provider: string, provider_id: string, identity_data: object) {
  const { id: user_id, last_sign_in_at, created_at, updated_at } = user
  const times = { last_sign_in_at, created_at, updated_at }
  return { user_id, provider, provider_id, identity_data, ...times }
}

function text(row: Fields, name: string): string | undefined {
  const value = row[name]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw new RefusedRow(`${name} is not a text`)
  return value
}

function short(row: Fields, name: string): string | undefined {
  const value = text(row, name)
  if (value && value.length > 255) throw new RefusedRow(`${name} is longer than 255 characters`)
  return value
}

function optional(value: string | undefined, read: (value: string) => string): string | null {
  return value === undefined ? null : read(value)
}

/** RFC 3339 in UTC, for the years that both sides write alike. */
function time(row: Fields, name: string): string | null {
  const value = text(row, name)
  if (value === undefined) return null
  const date = new Date(value)
  const isTime = date.getTime() >= -62_135_596_800_000 && date.getTime() < 253_402_300_800_000
  if (!isTime) throw new RefusedRow(`${name} is not a time`)
  return date.toISOString()
}

function flag(row: Fields, name: string): boolean {
  const value = row[name] ?? false
  if (typeof value !== 'boolean') throw new RefusedRow(`${name} is not true or false`)
  return value
}

function object(row: Fields, name: string): object | undefined {
  const value = row[name]
  if (value === undefined || value === null) return undefined
  if (!isRecord(value)) throw new RefusedRow(`${name} is not an object`)
  return value
}

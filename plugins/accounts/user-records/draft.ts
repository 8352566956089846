/** A new record as an admin describes it, checked and ready to be stored. */
import type { FastifyInstance } from 'fastify'

import type { Metadata, NewUser } from '../../../db/users.ts'
import { nilUuid } from '../../../db/users.ts'
import { validationFailed } from '../../../errors.ts'
import type { NewRecord } from '../../../schemas/admin-user.ts'
import { isUuid, normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import { bannedUntil } from './ban.ts'

export interface DraftDeps {
  passwords: Pick<FastifyInstance['passwords'], 'checkLength' | 'hash' | 'isSupportedHash'>
  defaultRole: string
  defaultAudience: string
}

/** Throws validation_failed; hashes the password, so it belongs before the transaction. */
export async function draftUser(deps: DraftDeps, input: NewRecord, now: Date): Promise<NewUser> {
  const email = input.email ? normalizeEmail(input.email) : null
  const phone = input.phone ? normalizePhone(input.phone) : null
  if (!email && !phone) {
    throw validationFailed('Cannot create a user without either an email or phone')
  }
  const banned_until = bannedUntil(input.ban_duration, now) ?? null
  return {
    id: readId(input.id),
    aud: input.aud || deps.defaultAudience,
    role: input.role?.trim() || deps.defaultRole,
    email,
    phone,
    encrypted_password: await readPassword(deps.passwords, input),
    raw_app_meta_data: { ...providersOf(email, phone), ...withoutNulls(input.app_metadata) },
    raw_user_meta_data: {
      ...input.user_metadata,
      ...(email && input.email_confirm && { email_verified: true }),
    },
    is_anonymous: false,
    email_confirmed_at: email && input.email_confirm ? now : null,
    phone_confirmed_at: phone && input.phone_confirm ? now : null,
    banned_until,
  }
}

function readId(id: string | undefined): string {
  if (!id) return crypto.randomUUID()
  if (!isUuid(id) || id === nilUuid) throw validationFailed('ID must conform to the uuid v4 format')
  return id.toLowerCase()
}

async function readPassword(
  passwords: DraftDeps['passwords'],
  { password, password_hash }: NewRecord,
): Promise<string | null> {
  if (password && password_hash) {
    throw validationFailed('Only a password or a password hash should be provided')
  }
  if (password_hash) {
    if (!passwords.isSupportedHash(password_hash)) {
      throw validationFailed('password_hash is of no known format, or costs too much to verify')
    }
    return password_hash
  }
  if (!password) return null
  passwords.checkLength(password)
  return passwords.hash(password)
}

function providersOf(email: string | null, phone: string | null): Metadata {
  const providers = [...(email ? ['email'] : []), ...(phone ? ['phone'] : [])]
  return { provider: providers[0], providers }
}

/** A null asks for the deletion of a key, and a new object has none. */
function withoutNulls(metadata: Metadata = {}): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null))
}

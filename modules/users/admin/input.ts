/** The fields of a user that an admin creates. */
import type { FastifyInstance } from 'fastify'

import { nilUuid, type UserMetadata } from '../../../db/tables/users.ts'
import type { NewRecord } from '../../../schemas/admin-user.ts'
import { isAllowedAudience } from '../../../schemas/audience.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { isUuid, normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import { parseDuration } from '../../../schemas/values/duration.ts'
import { checkMetadataSize } from '../metadata-size.ts'
import type { NewUserInput } from '../sign-up/create-user.ts'
import { withoutNulls } from '../sign-up/user-data.ts'

/** Throws validation_failed or metadata_too_large. Hashes the password, so that it must run before the transaction. */
export async function readNewAdminUser(
  app: FastifyInstance,
  input: NewRecord,
  now: Date,
): Promise<NewUserInput> {
  checkMetadataSize(app, input)
  const email = input.email ? normalizeEmail(input.email) : null
  const phone = input.phone ? normalizePhone(input.phone) : null
  if (!email && !phone) {
    throw validationFailed('Cannot create a user without either an email or phone')
  }
  const bannedTo = bannedUntil(input.ban_duration, now) ?? null
  const id = readId(input.id)
  const role = input.role?.trim() || undefined
  return {
    permit: { userId: id, ip: null },
    email,
    phone,
    bannedUntil: bannedTo,
    ...(role && { role }),
    aud: readAudience(app.config, input.aud),
    passwordHash: await readPassword(app.passwords, input),
    appMetadata: { ...buildProviderMetadata(email, phone), ...withoutNulls(input.app_metadata) },
    userMetadata: {
      ...input.user_metadata,
      ...(email && input.email_confirm && { email_verified: true }),
    },
    emailConfirmedAt: email && input.email_confirm ? now : null,
    phoneConfirmedAt: phone && input.phone_confirm ? now : null,
    identities: [...buildIdentities(id, 'email', email), ...buildIdentities(id, 'phone', phone)],
  }
}

function readAudience(config: FastifyInstance['config'], aud: string | undefined): string {
  if (!aud) return config.AUTH_JWT_AUD
  if (isAllowedAudience(config, aud)) return aud
  throw validationFailed('aud is not one of AUTH_JWT_ALLOWED_AUDIENCES')
}

function readId(id: string | undefined): string {
  if (!id) return crypto.randomUUID()
  if (!isUuid(id) || id === nilUuid) throw validationFailed('ID must conform to the uuid v4 format')
  return id.toLowerCase()
}

async function readPassword(
  passwords: FastifyInstance['passwords'],
  { password, password_hash }: NewRecord,
): Promise<string | null> {
  if (password && password_hash) {
    throw validationFailed('Only a password or a password hash should be provided')
  }
  if (password_hash) {
    if (!passwords.isSupportedHash(password_hash)) {
      throw validationFailed('password_hash has an unknown format, or is too expensive to verify')
    }
    return password_hash
  }
  if (!password) return null
  passwords.checkLength(password)
  return passwords.hash(password)
}

function buildProviderMetadata(email: string | null, phone: string | null): UserMetadata {
  const providers = [...(email ? ['email'] : []), ...(phone ? ['phone'] : [])]
  return { provider: providers[0], providers }
}

function buildIdentities(id: string, provider: 'email' | 'phone', address: string | null) {
  if (!address) return []
  const unverified = { email_verified: false, phone_verified: false }
  const identity_data = { sub: id, [provider]: address, ...unverified }
  return [{ provider, provider_id: id, identity_data }]
}

/**
 * The end of a ban of this duration; null for `none` and 0, which lift one. Undefined keeps the ban. Throws
 * validation_failed.
 */
export function bannedUntil(duration: string | undefined, now: Date): Date | null | undefined {
  if (!duration) return undefined
  if (duration === 'none') return null
  const seconds = parseSeconds(duration)
  return seconds === 0 ? null : new Date(now.getTime() + seconds * 1000)
}

function parseSeconds(duration: string): number {
  try {
    return parseDuration(duration)
  } catch {
    throw validationFailed(
      'invalid format for ban duration: send none or a sum such as 24h or 1h30m (ns, us, ms, s, m, h)',
    )
  }
}

/** A new record as an admin describes it, checked and ready to be stored. */
import type { Metadata } from '../../../db/users.ts'
import { nilUuid } from '../../../db/users.ts'
import { validationFailed } from '../../../errors.ts'
import type { NewRecord } from '../../../schemas/admin-user.ts'
import { isUuid, normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import type { House } from '../../define-plugin.ts'
import { bannedUntil } from './ban.ts'
import type { NewPerson } from './create.ts'
import { checkMetadata } from './metadata-size.ts'
import { withoutNulls } from './sign-up-data.ts'

/** Throws validation_failed or metadata_too_large; hashes the password, so it belongs before the transaction. */
export async function draftRecord(
  { config, passwords }: House<'config' | 'passwords'>,
  input: NewRecord,
  now: Date,
): Promise<NewPerson> {
  checkMetadata({ config }, input)
  const email = input.email ? normalizeEmail(input.email) : null
  const phone = input.phone ? normalizePhone(input.phone) : null
  if (!email && !phone) {
    throw validationFailed('Cannot create a user without either an email or phone')
  }
  const bannedTo = bannedUntil(input.ban_duration, now) ?? null
  const id = readId(input.id)
  const role = input.role?.trim() || undefined
  return {
    approval: { userId: id, ip: null },
    email,
    phone,
    bannedUntil: bannedTo,
    ...(role && { role }),
    aud: input.aud || config.AUTH_JWT_AUD,
    passwordHash: await readPassword(passwords, input),
    appMetadata: { ...providersOf(email, phone), ...withoutNulls(input.app_metadata) },
    userMetadata: {
      ...input.user_metadata,
      ...(email && input.email_confirm && { email_verified: true }),
    },
    emailConfirmedAt: email && input.email_confirm ? now : null,
    phoneConfirmedAt: phone && input.phone_confirm ? now : null,
    identities: [...identitiesOf(id, 'email', email), ...identitiesOf(id, 'phone', phone)],
  }
}

function readId(id: string | undefined): string {
  if (!id) return crypto.randomUUID()
  if (!isUuid(id) || id === nilUuid) throw validationFailed('ID must conform to the uuid v4 format')
  return id.toLowerCase()
}

async function readPassword(
  passwords: House<'passwords'>['passwords'],
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

function identitiesOf(id: string, provider: 'email' | 'phone', address: string | null) {
  if (!address) return []
  const unverified = { email_verified: false, phone_verified: false }
  const identity_data = { sub: id, [provider]: address, ...unverified }
  return [{ provider, provider_id: id, identity_data }]
}

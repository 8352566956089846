/** Resolves the username that a client sends to the identifier by which its user is found and throttled. */
import type { Db } from '../../db/core/database.ts'
import { findUsernameOwner } from '../../db/usernames/usernames.ts'
import { invalidCredentials } from '../../schemas/errors.ts'
import { enforceUsername } from './precis.ts'

/** Longer than any name that can be chosen. */
const maxInputLength = 512

interface SignInIdentifier {
  provider: 'email' | 'phone'
  address: string
}

/**
 * Returns the email or phone number of the user, so that attempts by username count with those by address. An unknown
 * name becomes an address that no user can have, for which a sign-in does the same work. Throws invalid_credentials for
 * a text that cannot be a username.
 */
export async function resolveUsername(
  db: Db,
  input: string,
  aud: string,
): Promise<SignInIdentifier> {
  const username = canonicalUsername(input)
  if (username === undefined) throw invalidCredentials()
  const owner = await findUsernameOwner(db, username, aud)
  const { email, phone } = owner ?? {}
  if (phone && (!email || (!owner?.email_confirmed_at && owner?.phone_confirmed_at))) {
    return { provider: 'phone', address: phone }
  }
  return { provider: 'email', address: email || noAddress(username) }
}

/**
 * Undefined for a text that cannot be a username. The rules for new names do not apply: they may have become stricter
 * since the name was chosen.
 */
export function canonicalUsername(input: string): string | undefined {
  return input.length > maxInputLength ? undefined : enforceUsername(input)
}

/** No email address has a space. */
const noAddress = (username: string) => `username ${username}`

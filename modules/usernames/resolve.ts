/** Resolves the username that a client sends to the identifier by which its user is found. */
import type { Db } from '../../db/core/database.ts'
import { findUsernameOwner } from '../../db/usernames/usernames.ts'
import { invalidCredentials, validationFailed } from '../../schemas/errors.ts'
import { usernameAccount } from '../otp/index.ts'
import { enforceUsername } from './precis.ts'

/** Longer than any name that can be chosen. */
const maxInputLength = 512

interface SignInIdentifier {
  provider: 'email' | 'phone'
  address: string
  /** What the attempt counts for. */
  account: string
}

/**
 * Returns the email or phone number of the user. An unknown name becomes an address that no user can have, for which a
 * sign-in does the same work. Throws invalid_credentials for a text that cannot be a username.
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
  const account = usernameAccount(username)
  if (phone && (!email || (!owner?.email_confirmed_at && owner?.phone_confirmed_at))) {
    return { provider: 'phone', address: phone, account }
  }
  // No email address has a space.
  return { provider: 'email', address: email || account, account }
}

/**
 * Returns the address to which the code of a recovery by this username was sent, and what the attempt counts for. An
 * unknown name becomes an address that no user can have. Throws validation_failed for a text that cannot be a username.
 */
export async function resolveUsernameAddress(
  db: Db,
  input: string,
  aud: string,
): Promise<{ email: string; account: string }> {
  const username = canonicalUsername(input)
  if (username === undefined) throw validationFailed('This is not a username', 422)
  const owner = await findUsernameOwner(db, username, aud)
  const account = usernameAccount(username)
  return { email: owner?.email || account, account }
}

/**
 * Undefined for a text that cannot be a username. The rules for new names do not apply: they may have become stricter
 * since the name was chosen.
 */
export function canonicalUsername(input: string): string | undefined {
  return input.length > maxInputLength ? undefined : enforceUsername(input)
}

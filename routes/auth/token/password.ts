import type { FastifyInstance } from 'fastify'

import { signInWithPassword } from '../../../modules/credentials/index.ts'
import { resolveUsername } from '../../../modules/usernames/index.ts'
import {
  emailProviderDisabled,
  invalidCredentials,
  phoneProviderDisabled,
  validationFailed,
} from '../../../schemas/errors.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'
import type { GrantHandler } from './grant.ts'

/** RFC 6749 §4.3. Nothing about an account is revealed before its password is verified. */
export function passwordGrant({
  config,
  credentials,
  db,
  usernames,
}: FastifyInstance): GrantHandler {
  return async (body, { audience: aud, clientInfo, clientIp: ip }, now) => {
    const { username, password = '' } = body
    const contact =
      username && usernames.rules
        ? await readUsernameContact(body, username, aud)
        : readContact(body)
    return signInWithPassword(credentials, db, { ...contact, aud, password, clientInfo, ip }, now)
  }

  async function readUsernameContact(
    { email, phone }: TokenRequest,
    username: string,
    aud: string,
  ) {
    if (email || phone) throw validationFailed('Send one of username, email and phone')
    return resolveUsername(db, username, aud)
  }

  function readContact({ email, phone }: TokenRequest) {
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided on login.')
    }
    if (email) {
      if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 422)
      }
      return { provider: 'email' as const, address: readable(normalizeEmail, email) }
    }
    if (!phone) throw validationFailed('missing email or phone')
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 422)
    }
    return { provider: 'phone' as const, address: readable(normalizePhone, phone) }
  }
}

/** An invalid identifier has no user: the error is that of a wrong password, as in GoTrue. */
function readable(normalize: (input: string) => string, address: string): string {
  try {
    return normalize(address)
  } catch {
    throw invalidCredentials()
  }
}

import type { FastifyInstance } from 'fastify'

import {
  emailProviderDisabled,
  invalidCredentials,
  phoneProviderDisabled,
  validationFailed,
} from '../../../errors.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'
import type { Grant } from './grant.ts'

/** RFC 6749 §4.3. Nothing is said about an account before its password is proven. */
export function passwordGrant({ config, credentials, db }: FastifyInstance): Grant {
  return async (body, { audience: aud, client, clientIp: ip }, now) => {
    const contact = readContact(body)
    const { password = '' } = body
    return credentials.signInWithPassword(db, { ...contact, aud, password, client, ip }, now)
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

/** A user name or a number with a slip is nobody's address: apps show that as a wrong sign-in, as with GoTrue. */
function readable(normalize: (input: string) => string, address: string): string {
  try {
    return normalize(address)
  } catch {
    throw invalidCredentials()
  }
}

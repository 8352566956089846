import type { FastifyInstance } from 'fastify'
import pLimit from 'p-limit'

import { findUserByEmail, findUserByPhone, type UserRecord, updateUser } from '../../db/users.ts'
import {
  emailNotConfirmed,
  emailProviderDisabled,
  invalidCredentials,
  phoneNotConfirmed,
  phoneProviderDisabled,
  userBanned,
  validationFailed,
} from '../../errors.ts'
import { normalizeEmail, normalizePhone } from '../../schemas/fields.ts'
import type { TokenRequest } from '../../schemas/token-request.ts'
import type { Grant } from './grant.ts'

/** A storm of sign-ins waits for its hashes anyway: it must not take every connection of the pool before. */
const lookUpsAtOnce = 4

/** RFC 6749 §4.3. Nothing is said about an account before its password is proven. */
export function passwordGrant(fastify: FastifyInstance): Grant {
  const { audit, config, db, passwords, sessions, signInThrottle } = fastify
  const lookUp = pLimit(lookUpsAtOnce)
  const allowsUnverified = config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS

  return async (body, request, now) => {
    const { provider, address } = readContact(body)
    const { password = '' } = body
    passwords.checkLength(password)
    const find = provider === 'email' ? findUserByEmail : findUserByPhone
    const [account, user] = await lookUp(() =>
      Promise.all([signInThrottle.enter(db, address, now), find(db, address, config.AUTH_JWT_AUD)]),
    )

    const isRight = await passwords.verify(user?.encrypted_password, password)
    if (!user || !isRight) {
      await account.failed()
      throw invalidCredentials()
    }
    await account.succeeded()
    checkState(user, provider, now)

    await renewHash(user, password, now)
    const entry = audit.entry('login', user, request.clientIp, { provider })
    const opening = { method: 'password' as const, client: request.client, audit: entry }
    const session = await sessions.issue(db, user, opening, now)
    const weakness = await passwords.findWeakness(password)
    return { ...session, weak_password: weakness ?? null }
  }

  function readContact({ email, phone }: TokenRequest) {
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided on login.')
    }
    if (email) {
      if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 422)
      }
      return { provider: 'email' as const, address: normalizeEmail(email) }
    }
    if (!phone) throw validationFailed('missing email or phone')
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 422)
    }
    return { provider: 'phone' as const, address: normalizePhone(phone) }
  }

  function checkState(user: UserRecord, provider: 'email' | 'phone', now: Date) {
    if (user.deleted_at) throw invalidCredentials()
    if (user.banned_until && user.banned_until > now) throw userBanned(400)
    if (provider === 'phone' && !user.phone_confirmed_at) throw phoneNotConfirmed()
    if (provider === 'email' && !user.email_confirmed_at && !allowsUnverified) {
      throw emailNotConfirmed()
    }
  }

  /** Imported and outdated hashes become today's as soon as the password is known to be right. */
  async function renewHash(user: UserRecord, password: string, now: Date) {
    if (!user.encrypted_password || !passwords.isOutdated(user.encrypted_password)) return
    const encrypted_password = await passwords.hash(password)
    await updateUser(db, user.id, { encrypted_password }, now)
  }
}

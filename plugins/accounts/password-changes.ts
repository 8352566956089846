/** Another password for an account: who may set it, and what ends with the old one. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { deleteTokens } from '../../db/one-time-tokens.ts'
import { deleteSessions } from '../../db/sessions.ts'
import { type UserRecord, updateUser } from '../../db/users.ts'
import {
  currentPasswordInvalid,
  currentPasswordRequired,
  otpExpired,
  reauthenticationNeeded,
  reauthenticationNotValid,
  samePassword,
} from '../../errors.ts'
import type { Bearer } from '../bearer-auth.ts'

declare module 'fastify' {
  interface FastifyInstance {
    passwordChanges: ReturnType<typeof createPasswordChanges>
  }
}

export interface PasswordChange {
  password: string
  nonce: string | undefined
  currentPassword: string | undefined
}

interface PasswordChangeDeps {
  requiresReauthentication: boolean
  requiresCurrentPassword: boolean
  audit: FastifyInstance['audit']
  letters: FastifyInstance['letters']
  passwords: FastifyInstance['passwords']
  reauthentications: FastifyInstance['reauthentications']
  signInThrottle: FastifyInstance['signInThrottle']
}

/** A session this young was opened by somebody who proved who they are not long ago. */
const freshSessionMs = 24 * 60 * 60 * 1000

/** Who signed in like this may not know the password: that is why they come. */
const passwordless = ['otp', 'magiclink', 'recovery']

export function createPasswordChanges(deps: PasswordChangeDeps) {
  const { audit, letters, passwords, reauthentications, signInThrottle } = deps

  /** Throws reauthentication_needed, reauthentication_not_valid or otp_expired. A right nonce is spent by this. */
  async function checkNonce(db: Db, bearer: Bearer, nonce: string | undefined, now: Date) {
    const openedAt = bearer.session?.session_created_at?.getTime() ?? 0
    if (!deps.requiresReauthentication || now.getTime() - openedAt < freshSessionMs) return
    if (!nonce) throw reauthenticationNeeded()
    const { user } = bearer
    const judgement = await reauthentications.judge(db, user, nonce, now)
    const isRight = await db
      .transaction()
      .execute((trx) => reauthentications.accepts(trx, user, nonce, judgement, now))
    if (isRight) return
    throw judgement.by === 'provider' ? otpExpired() : reauthenticationNotValid()
  }

  /** Throws current_password_required or current_password_invalid. */
  async function checkCurrent(db: Db, bearer: Bearer, current: string | undefined, now: Date) {
    const { user, session } = bearer
    const cameWithout = session?.amr.some(({ method }) => passwordless.includes(method))
    if (!deps.requiresCurrentPassword || !user.encrypted_password || cameWithout) return
    if (!current) throw currentPasswordRequired()
    passwords.checkLength(current)
    // Not the count of sign-ins: strangers who guess there must not keep the owner out here.
    const account = await signInThrottle.enter(db, `current password of ${user.id}`, now)
    if (await passwords.verify(user.encrypted_password, current)) return account.succeeded()
    await account.failed()
    throw currentPasswordInvalid()
  }

  return {
    /** The rules for a password that the person sets while signed in. Throws what each rule refuses with. */
    async check(db: Db, bearer: Bearer, change: PasswordChange, now: Date): Promise<void> {
      await checkNonce(db, bearer, change.nonce, now)
      await checkCurrent(db, bearer, change.currentPassword, now)
      const stored = bearer.user.encrypted_password
      if (stored && (await passwords.verify(stored, change.password))) throw samePassword()
    },

    /** Stores the hash; links and codes on their way and all other sessions end. */
    async put(
      trx: Trx,
      user: UserRecord,
      { hash, keepSession }: { hash: string; keepSession: string | undefined },
      { ip, now }: { ip: string; now: Date },
    ): Promise<void> {
      const change = {
        encrypted_password: hash,
        confirmation_sent_at: null,
        recovery_sent_at: null,
        email_change_sent_at: null,
        phone_change_sent_at: null,
        reauthentication_sent_at: null,
      }
      await updateUser(trx, user.id, change, now)
      await deleteTokens(trx, user.id)
      await deleteSessions(trx, user.id, keepSession)
      await audit.record(trx, 'user_updated_password', user, { ip, now })
      await letters.notify(trx, user, { kind: 'password_changed_notification' }, now)
    },
  }
}

async function passwordChanges(fastify: FastifyInstance) {
  const { config, audit, letters, passwords, reauthentications, signInThrottle } = fastify
  const decorator = createPasswordChanges({
    requiresReauthentication: config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION,
    requiresCurrentPassword: config.AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD,
    audit,
    letters,
    passwords,
    reauthentications,
    signInThrottle,
  })
  fastify.decorate('passwordChanges', decorator)
}

export default fp(passwordChanges, {
  name: 'password-changes',
  fastify: '5.x',
  dependencies: [
    'config',
    'audit',
    'letters',
    'passwords',
    'reauthentications',
    'sign-in-throttle',
  ],
})

/** Another phone number for an account: asked for by the person, agreed to by whoever reads the code sent to it. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { putIdentity, recomputeProviders } from '../../db/identities.ts'
import { deleteTokens } from '../../db/one-time-tokens.ts'
import { isUniqueViolation } from '../../db/unique-violation.ts'
import { findUserByPhone, type UserRecord, updateUser } from '../../db/users.ts'
import { phoneExists } from '../../errors.ts'
import type { Channel, SentCode } from './phones.ts'
import { done, type Verified } from './verifications/verified.ts'

declare module 'fastify' {
  interface FastifyInstance {
    phoneChanges: ReturnType<typeof createPhoneChanges>
  }
}

interface PhoneChangeDeps {
  /** Numbers need no proof. */
  autoconfirm: boolean
  phones: FastifyInstance['phones']
  letters: FastifyInstance['letters']
}

export function createPhoneChanges({ autoconfirm, phones, letters }: PhoneChangeDeps) {
  /** Throws phone_exists when the number belongs to somebody else. */
  async function checkFree(db: Db, user: UserRecord, phone: string): Promise<void> {
    const owner = await findUserByPhone(db, phone, user.aud ?? '')
    if (owner && owner.id !== user.id) throw phoneExists()
  }

  /** The number becomes the person's, proven. Throws phone_exists when somebody else has it by now. */
  async function put(trx: Trx, user: UserRecord, phone: string, now: Date): Promise<void> {
    await checkFree(trx, user, phone)
    await deleteTokens(trx, user.id)
    const change = { phone, phone_change: '', phone_confirmed_at: now, is_anonymous: false }
    await updateUser(trx, user.id, change, now).catch((error) => {
      throw isUniqueViolation(error) ? phoneExists() : error
    })
    await putIdentity(trx, phoneIdentityOf(user.id, phone), now)
    await recomputeProviders(trx, user.id, now)
    await tell(trx, user, phone, now)
  }

  async function tell(trx: Trx, before: UserRecord, phone: string, now: Date): Promise<void> {
    const person = { ...before, phone }
    const isLinked = before.identities.some(({ provider }) => provider === 'phone')
    if (!isLinked) {
      const linked = { kind: 'identity_linked_notification', Provider: 'phone' } as const
      await letters.notify(trx, person, linked, now)
    }
    if (!before.phone) return
    const changed = { Phone: phone, OldPhone: before.phone }
    await letters.notify(trx, person, { kind: 'phone_changed_notification', ...changed }, now)
  }

  return {
    checkFree,
    put,

    /**
     * Sends a code to the new number; undefined where no proof is needed. Throws over_sms_send_rate_limit,
     * sms_send_failed or unexpected_failure.
     */
    async ask(
      db: Db,
      user: UserRecord,
      to: { phone: string; channel: Channel },
      now: Date,
    ): Promise<SentCode | undefined> {
      if (autoconfirm) return undefined
      const askedBy = user.phone || user.id
      return phones.send(db, { purpose: 'phone_change', ...to, askedBy }, now)
    },

    /** The new number agrees. Throws phone_exists. */
    async agree(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
      const phone = user.phone_change
      if (!phone) return { state: 'refused' }
      await put(trx, user, phone, now)
      return done(trx, user, 'phone_change', 'user_modified', now)
    },
  }
}

function phoneIdentityOf(userId: string, phone: string) {
  const identity_data = { sub: userId, phone, phone_verified: true, email_verified: false }
  return { user_id: userId, provider: 'phone', provider_id: userId, identity_data }
}

async function phoneChanges(fastify: FastifyInstance) {
  const { config, phones, letters } = fastify
  const autoconfirm = config.AUTH_SMS_AUTOCONFIRM
  fastify.decorate('phoneChanges', createPhoneChanges({ autoconfirm, phones, letters }))
}

export default fp(phoneChanges, {
  name: 'phone-changes',
  fastify: '5.x',
  dependencies: ['config', 'phones', 'letters'],
})

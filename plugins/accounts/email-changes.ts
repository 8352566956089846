/**
 * Another address for an account: asked for by the person, agreed to by the new mailbox and, unless the operator
 * says otherwise, by the current one too, in either order.
 */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Db, Trx } from '../../db/database.ts'
import { putIdentity, recomputeProviders } from '../../db/identities.ts'
import { deleteTokens, type TokenType } from '../../db/one-time-tokens.ts'
import { isUniqueViolation } from '../../db/unique-violation.ts'
import { mergeMetadata } from '../../db/user-edits.ts'
import { findUserByAnyEmail, type UserRecord, updateUser } from '../../db/users.ts'
import { emailExists } from '../../errors.ts'
import type { LinkContext } from './links.ts'
import { done, type Verified } from './verifications/verified.ts'

declare module 'fastify' {
  interface FastifyInstance {
    emailChanges: ReturnType<typeof createEmailChanges>
  }
}

interface EmailChangeDeps {
  /** AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED */
  asksCurrent: boolean
  /** Addresses need no proof, so either mailbox may agree for both. */
  autoconfirm: boolean
  letters: FastifyInstance['letters']
  recipients: FastifyInstance['recipients']
  sendLimits: FastifyInstance['sendLimits']
}

export function createEmailChanges(deps: EmailChangeDeps) {
  const { asksCurrent, autoconfirm, letters, recipients, sendLimits } = deps

  /** The address becomes the person's, proven. Throws email_exists when somebody else has it by now. */
  async function put(trx: Trx, user: UserRecord, email: string, now: Date): Promise<void> {
    await checkFree(trx, user, email)
    await deleteTokens(trx, user.id)
    const change = {
      email,
      email_change: '',
      email_change_confirm_status: 0,
      email_confirmed_at: user.email_confirmed_at ?? now,
      is_anonymous: false,
    }
    await updateUser(trx, user.id, change, now).catch((error) => {
      throw isUniqueViolation(error) ? emailExists() : error
    })
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    await putIdentity(trx, emailIdentityOf(user.id, email), now)
    if (user.email) {
      const notification = { kind: 'email_changed_notification', OldEmail: user.email } as const
      await letters.notify(trx, { ...user, email }, notification, now)
    }
  }

  /** Throws email_exists when the address belongs to somebody else. */
  async function checkFree(db: Db, user: UserRecord, email: string): Promise<void> {
    const owner = await findUserByAnyEmail(db, email, user.aud ?? '')
    if (owner && owner.id !== user.id) throw emailExists()
  }

  return {
    checkFree,

    /**
     * Asks the mailboxes. Throws over_email_send_rate_limit, email_provider_not_configured or
     * email_address_not_authorized.
     */
    async start(
      trx: Trx,
      user: UserRecord,
      email: string,
      context: LinkContext,
      now: Date,
    ): Promise<void> {
      if (user.is_anonymous && autoconfirm) {
        await put(trx, user, email, now)
        return recomputeProviders(trx, user.id, now)
      }
      recipients.check(email)
      await sendLimits.claimInterval(trx, 'email', 'email_change', user.email || user.id, now)
      await sendLimits.claimInterval(trx, 'email', 'email_change_target', email, now)
      await letters.sendEmailChange(trx, user, { newEmail: email, asksCurrent }, context, now)
      await sendLimits.claimQuota(trx, 'email', now)
    },

    /** Asks again, all who were asked. */
    async repeat(trx: Trx, user: UserRecord, context: LinkContext, now: Date): Promise<void> {
      const newEmail = user.email_change
      if (!newEmail) return
      await letters.sendEmailChange(trx, user, { newEmail, asksCurrent }, context, now)
    },

    /** One mailbox agrees: the change is done, or waits for the other one. Throws email_exists. */
    async agree(trx: Trx, user: UserRecord, by: TokenType, now: Date): Promise<Verified> {
      const email = user.email_change
      if (!email) return { state: 'refused' }
      const needsBoth = asksCurrent && !autoconfirm && Boolean(user.email)
      if (needsBoth && user.email_change_confirm_status === 0) {
        await updateUser(trx, user.id, { email_change_confirm_status: 1 }, now)
        return { state: 'half', user }
      }
      // The current mailbox alone proves nothing about the new one.
      const isNewProven = needsBoth || autoconfirm || by === 'email_change_token_new'
      if (!isNewProven) return { state: 'refused' }
      await put(trx, user, email, now)
      return done(trx, user, 'email_change', 'user_modified', now)
    },
  }
}

function emailIdentityOf(userId: string, email: string) {
  const identity_data = { sub: userId, email, email_verified: true, phone_verified: false }
  return { user_id: userId, provider: 'email', provider_id: userId, identity_data }
}

async function emailChanges(fastify: FastifyInstance) {
  const { config, letters, recipients, sendLimits } = fastify
  const decorator = createEmailChanges({
    asksCurrent: config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED,
    autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
    letters,
    recipients,
    sendLimits,
  })
  fastify.decorate('emailChanges', decorator)
}

export default fp(emailChanges, {
  name: 'email-changes',
  fastify: '5.x',
  dependencies: ['config', 'letters', 'recipients', 'send-limits'],
})

/** What we write to people: each letter makes its link or code, notes when it was sent and goes into the mail queue. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { type UserChange, type UserRecord, updateUser } from '../../db/users.ts'
import { createEmailChangeLetters } from './letters/email-change.ts'
import {
  createNotifications,
  enabledNotifications,
  type NotificationDeps,
} from './letters/notifications.ts'
import { sendReauthentication } from './letters/reauthentication.ts'
import { commonVariables, linkVariables } from './letters/variables.ts'
import type { LinkKind } from './links/kinds.ts'
import type { LinkContext } from './links.ts'

declare module 'fastify' {
  interface FastifyInstance {
    letters: ReturnType<typeof createLetters>
  }
}

export type PlainLinkKind = Exclude<LinkKind, 'email_change_new' | 'email_change_current'>

export interface LetterDeps {
  links: FastifyInstance['links']
  mailer: FastifyInstance['mailer']
  siteUrl: string
}

const sentColumns: Record<PlainLinkKind, 'confirmation_sent_at' | 'recovery_sent_at'> = {
  confirmation: 'confirmation_sent_at',
  invite: 'confirmation_sent_at',
  recovery: 'recovery_sent_at',
  magic_link: 'recovery_sent_at',
}

export function createLetters(deps: LetterDeps & NotificationDeps) {
  const { links, mailer, siteUrl } = deps

  return {
    /** Sends one of the letters whose link leads to /verify. Returns the columns it changed. */
    async sendLink(
      trx: Trx,
      kind: PlainLinkKind,
      person: UserRecord,
      context: LinkContext,
      now: Date,
    ): Promise<UserChange> {
      const to = person.email ?? ''
      const change = { [sentColumns[kind]]: now, ...(kind === 'invite' && { invited_at: now }) }
      // The person's row before the token's, as everywhere: see lockTokenOwners.
      await updateUser(trx, person.id, change, now)
      const link = await links.create(trx, kind, { id: person.id, address: to }, context, now)
      await links.startFlow(trx, kind, person.id, context.pkce, now)
      const variables = {
        ...commonVariables(siteUrl, person),
        ...linkVariables(link, context.redirectTo),
      }
      const { messageId } = context
      await mailer.queue(trx, { kind, to, variables, expiresAt: link.expiresAt, messageId }, now)
      return change
    },

    ...createEmailChangeLetters(deps),

    notify: createNotifications(deps),

    sendReauthentication: (trx: Trx, person: UserRecord, messageId: string, now: Date) =>
      sendReauthentication(deps, trx, person, messageId, now),
  }
}

async function letters(fastify: FastifyInstance) {
  const { config, links, mailer, recipients } = fastify
  const siteUrl = config.AUTH_SITE_URL
  const enabled = enabledNotifications(config)
  fastify.decorate('letters', createLetters({ links, mailer, recipients, siteUrl, enabled }))
}

export default fp(letters, {
  name: 'letters',
  fastify: '5.x',
  dependencies: ['config', 'links', 'mailer', 'recipients'],
})

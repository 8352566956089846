/** What we write to people: each letter makes its link, notes when it was sent and goes into the mail queue. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { type UserChange, type UserRecord, updateUser } from '../../db/users.ts'
import type { LinkContext, LinkKind } from './links.ts'

declare module 'fastify' {
  interface FastifyInstance {
    letters: ReturnType<typeof createLetters>
  }
}

type Mailer = FastifyInstance['mailer']
type PlainLinkKind = Exclude<LinkKind, 'email_change_new' | 'email_change_current'>

interface LetterDeps {
  links: FastifyInstance['links']
  mailer: Mailer
  siteUrl: string
}

const sentColumns: Record<PlainLinkKind, 'confirmation_sent_at' | 'recovery_sent_at'> = {
  confirmation: 'confirmation_sent_at',
  invite: 'confirmation_sent_at',
  recovery: 'recovery_sent_at',
  magic_link: 'recovery_sent_at',
}

export function createLetters({ links, mailer, siteUrl }: LetterDeps) {
  const commonVariables = (person: UserRecord) => ({
    SiteURL: siteUrl,
    Email: person.email ?? '',
    Data: person.raw_user_meta_data ?? {},
  })

  return {
    /** Sends one of the letters whose link leads to /verify. Returns the columns it changed. */
    async sendLink(
      trx: Trx,
      kind: PlainLinkKind,
      person: UserRecord,
      context: LinkContext,
      now: Date,
    ): Promise<UserChange> {
      const address = person.email ?? ''
      const link = await links.create(trx, kind, { id: person.id, address }, context, now)
      await links.startFlow(trx, kind, person.id, context.pkce, now)
      const change = {
        [sentColumns[kind]]: now,
        ...(kind === 'invite' && { invited_at: now }),
      }
      await updateUser(trx, person.id, change, now)
      const variables = {
        ...commonVariables(person),
        ConfirmationURL: link.url,
        Token: link.code,
        TokenHash: link.linkToken,
        RedirectTo: context.redirectTo,
      }
      await mailer.queue(trx, { kind, to: address, variables, expiresAt: link.expiresAt }, now)
      return change
    },
  }
}

async function letters(fastify: FastifyInstance) {
  const { config, links, mailer } = fastify
  fastify.decorate('letters', createLetters({ links, mailer, siteUrl: config.AUTH_SITE_URL }))
}

export default fp(letters, {
  name: 'letters',
  fastify: '5.x',
  dependencies: ['config', 'links', 'mailer'],
})

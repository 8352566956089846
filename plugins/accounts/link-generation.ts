/** Links that an admin delivers: made as if the person had asked, and sent to nobody. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { Trx } from '../../db/database.ts'
import { deleteTokens } from '../../db/one-time-tokens.ts'
import {
  findUser,
  findUserByEmail,
  lockUser,
  type Metadata,
  type UserChange,
  type UserRecord,
  updateUser,
} from '../../db/users.ts'
import { emailExists, userNotFound, validationFailed } from '../../errors.ts'
import type { AuditAction } from '../audit.ts'
import type { LinkKind } from './links/kinds.ts'
import type { Link, LinkContext } from './links.ts'
import type { NewPerson } from './sign-ups/registration.ts'

declare module 'fastify' {
  interface FastifyInstance {
    linkGeneration: ReturnType<typeof createLinkGeneration>
  }
}

export type GeneratedType =
  | 'signup'
  | 'magiclink'
  | 'recovery'
  | 'invite'
  | 'email_change_current'
  | 'email_change_new'

export interface LinkWish {
  type: GeneratedType
  /** Addresses in their stored form. */
  email: string
  newEmail: string
  aud: string
  passwordHash: string | null
  data: Metadata
}

export interface GeneratedLink {
  user: UserRecord
  link: Link
  /** What the link verifies as; a magic link for a new person is a sign-up. */
  type: GeneratedType
  action: AuditAction
}

interface LinkGenerationDeps {
  links: FastifyInstance['links']
  signUps: FastifyInstance['signUps']
  invitations: FastifyInstance['invitations']
  emailChanges: FastifyInstance['emailChanges']
  /** AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED */
  asksCurrent: boolean
}

interface Plan {
  kind: LinkKind
  action: AuditAction
  sent: (now: Date) => UserChange
}

const plans: Record<GeneratedType, Plan> = {
  signup: {
    kind: 'confirmation',
    action: 'user_confirmation_requested',
    sent: (now) => ({ confirmation_sent_at: now }),
  },
  invite: {
    kind: 'invite',
    action: 'user_invited',
    sent: (now) => ({ confirmation_sent_at: now, invited_at: now }),
  },
  recovery: {
    kind: 'recovery',
    action: 'user_recovery_requested',
    sent: (now) => ({ recovery_sent_at: now }),
  },
  magiclink: {
    kind: 'magic_link',
    action: 'user_recovery_requested',
    sent: (now) => ({ recovery_sent_at: now }),
  },
  email_change_current: {
    kind: 'email_change_current',
    action: 'user_modified',
    sent: (now) => ({ email_change_sent_at: now, email_change_confirm_status: 0 }),
  },
  email_change_new: {
    kind: 'email_change_new',
    action: 'user_modified',
    sent: (now) => ({ email_change_sent_at: now, email_change_confirm_status: 0 }),
  },
}

export function createLinkGeneration(deps: LinkGenerationDeps) {
  const { links, signUps, invitations, emailChanges, asksCurrent } = deps

  /** What an unproven account already holds is not its owner's: the sign-up brings its own. */
  async function signUp(trx: Trx, wish: LinkWish, now: Date): Promise<UserRecord> {
    const user = await signUps.register(trx, toPerson(wish), now)
    if (!user) throw emailExists()
    return user
  }

  async function changeEmail(trx: Trx, wish: LinkWish, now: Date): Promise<UserRecord> {
    if (wish.type === 'email_change_current' && !asksCurrent) {
      throw validationFailed('Enable secure email change to generate link for current email')
    }
    const user = await find(trx, wish)
    await lockUser(trx, user.id)
    await emailChanges.checkFree(trx, user, wish.newEmail)
    // A link that agrees to another new address must not agree to this one.
    if (user.email_change !== wish.newEmail) {
      await deleteTokens(trx, user.id, ['email_change_token_current', 'email_change_token_new'])
    }
    await updateUser(trx, user.id, { email_change: wish.newEmail }, now)
    return user
  }

  async function prepare(
    trx: Trx,
    wish: LinkWish,
    now: Date,
  ): Promise<[GeneratedType, UserRecord]> {
    const { type } = wish
    if (type === 'signup') return [type, await signUp(trx, wish, now)]
    if (type === 'invite') return [type, await invitations.prepare(trx, toPerson(wish), now)]
    if (type === 'email_change_current' || type === 'email_change_new') {
      return [type, await changeEmail(trx, wish, now)]
    }
    const user = await findUserByEmail(trx, wish.email, wish.aud)
    if (user) return [type, user]
    if (type === 'magiclink') return ['signup', await signUp(trx, wish, now)]
    throw unknownAddress()
  }

  return {
    /** Throws user_not_found, email_exists or validation_failed. */
    async generate(
      trx: Trx,
      wish: LinkWish,
      context: LinkContext,
      now: Date,
    ): Promise<GeneratedLink> {
      const [type, person] = await prepare(trx, wish, now)
      const { kind, action, sent } = plans[type]
      await updateUser(trx, person.id, sent(now), now)
      const address = type === 'email_change_new' ? wish.newEmail : wish.email
      const link = await links.create(trx, kind, { id: person.id, address }, context, now)
      const user = await findUser(trx, person.id)
      if (!user) throw unknownAddress()
      return { user, link, type, action }
    },
  }
}

function toPerson({ email, aud, passwordHash, data }: LinkWish): NewPerson {
  return { contact: { provider: 'email', address: email }, aud, passwordHash, data }
}

const unknownAddress = () => userNotFound('User with this email not found')

async function find(trx: Trx, { email, aud }: LinkWish): Promise<UserRecord> {
  const user = await findUserByEmail(trx, email, aud)
  if (!user) throw unknownAddress()
  return user
}

async function linkGeneration(fastify: FastifyInstance) {
  const { config, emailChanges, invitations, links, signUps } = fastify
  const asksCurrent = config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED
  const decorator = createLinkGeneration({ emailChanges, invitations, links, signUps, asksCurrent })
  fastify.decorate('linkGeneration', decorator)
}

export default fp(linkGeneration, {
  name: 'link-generation',
  fastify: '5.x',
  dependencies: ['config', 'email-changes', 'invitations', 'links', 'sign-ups'],
})

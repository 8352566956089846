/** Links for admins to deliver: created as if the user had requested them, without an email. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { setTokenMaker } from '../../../db/tokens/made-by.ts'
import { deleteTokens } from '../../../db/tokens/one-time-tokens.ts'
import { type UserChange, updateUser } from '../../../db/users/update-user.ts'
import { findUser, type UserRecord } from '../../../db/users/users.ts'
import { emailExists, userNotFound, validationFailed } from '../../../schemas/errors.ts'
import type { AuditAction } from '../../audit/actions.ts'
import { createEmailLink, linkKinds } from '../../otp/index.ts'
import type { EmailLink, LinkContext, LinkKind } from '../../otp/links.ts'
import {
  applyAdminMetadata,
  findOrCreateUnconfirmedUser,
  lockUserByEmail,
  prepareInvitation,
  storePendingSignUp,
} from '../../users/index.ts'
import type { CreationPermit, SignUpInput, SignUpResult } from '../../users/sign-up/types.ts'
import { checkEmailFree } from '../email-change.ts'

// The types of generated links and their effects.

type AdminLinkType =
  | 'signup'
  | 'magiclink'
  | 'recovery'
  | 'invite'
  | 'email_change_current'
  | 'email_change_new'

interface Plan {
  kind: LinkKind
  action: AuditAction
  /** The columns with the time of the link. */
  sent: (now: Date) => UserChange
}

const plans: Record<AdminLinkType, Plan> = {
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

export interface LinkRequest {
  type: AdminLinkType
  /** Addresses in their stored form. */
  email: string
  newEmail: string
  aud: string
  passwordHash: string | null
  data: UserMetadata
  /** For a new account. */
  permit: CreationPermit | undefined
  /** The user of the admin; null for a service. */
  madeBy: string | null
}

interface GeneratedLink {
  user: UserRecord
  link: EmailLink
  /** The type for /verify; a magic link for a new user is a sign-up. */
  type: AdminLinkType
  action: AuditAction
}

/** Types that create the user if needed. */
const mayCreate: ReadonlySet<AdminLinkType> = new Set(['signup', 'invite', 'magiclink'])

/** Throws user_not_found, email_exists or validation_failed. */
export async function generateLink(
  app: FastifyInstance,
  trx: Trx,
  request: LinkRequest,
  context: LinkContext,
  now: Date,
): Promise<GeneratedLink> {
  const [type, registered] = await prepare(app, trx, request, now)
  const { user: created } = registered
  const { kind, action, sent } = plans[type]
  await updateUser(trx, created.id, sent(now), now)
  const address = type === 'email_change_new' ? request.newEmail : request.email
  const link = await createEmailLink(app, trx, kind, { id: created.id, address }, context, now)
  const { madeBy } = request
  if (madeBy) {
    await setTokenMaker(trx, { userId: created.id, type: linkKinds[kind].tokenType, madeBy })
  }
  await storePendingSignUp(trx, registered, now)
  const user = await findUser(trx, created.id)
  if (!user) throw unknownAddress()
  return { user, link, type, action }
}

async function prepare(
  app: FastifyInstance,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<[AdminLinkType, SignUpResult]> {
  const { type } = request
  if (mayCreate.has(type)) await applyAdminMetadata(app, trx, toSignUpInput(request), now)
  if (type === 'signup') return [type, await signUp(app, trx, request, now)]
  if (type === 'invite') {
    return [type, await prepareInvitation(app, trx, toSignUpInput(request), now)]
  }
  if (type === 'email_change_current' || type === 'email_change_new') {
    return [type, { user: await changeEmail(app, trx, request, now) }]
  }
  const user = await lockUserByEmail(trx, request.email, request.aud)
  if (user) return [type, { user }]
  if (type === 'magiclink') return ['signup', await signUp(app, trx, request, now)]
  throw unknownAddress()
}

/** Credentials of an unverified account may not be its owner's: the sign-up replaces them. */
async function signUp(
  app: FastifyInstance,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<SignUpResult> {
  const registered = await findOrCreateUnconfirmedUser(app, trx, toSignUpInput(request), now)
  if (!registered) throw emailExists()
  return registered
}

async function changeEmail(
  { config }: FastifyInstance,
  trx: Trx,
  { type, email, newEmail, aud }: LinkRequest,
  now: Date,
): Promise<UserRecord> {
  if (type === 'email_change_current' && !config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED) {
    throw validationFailed('Enable secure email change to generate link for current email')
  }
  const user = await lockUserByEmail(trx, email, aud)
  if (!user) throw unknownAddress()
  // A link for the current address would have no effect.
  if (newEmail === user.email) throw emailExists()
  await checkEmailFree(trx, user, newEmail)
  // A link that confirms another new address must not confirm this one.
  if (user.email_change !== newEmail) {
    await deleteTokens(trx, user.id, ['email_change_token_current', 'email_change_token_new'])
  }
  await updateUser(trx, user.id, { email_change: newEmail }, now)
  return user
}

function toSignUpInput({ email, ...rest }: LinkRequest): SignUpInput {
  const { aud, passwordHash, data, permit } = rest
  const contact = { provider: 'email' as const, address: email }
  return { contact, aud, passwordHash, data, permit, byAdmin: true }
}

const unknownAddress = () => userNotFound('User with this email not found')

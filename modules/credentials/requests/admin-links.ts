/** Links for admins to deliver: created as if the user had requested them, without an email. */
import type { Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { deleteTokens } from '../../../db/tokens/one-time-tokens.ts'
import { updateUser } from '../../../db/users/update-user.ts'
import { findUser, type UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { emailExists, userNotFound, validationFailed } from '../../../schemas/errors.ts'
import type { AuditAction } from '../../audit/actions.ts'
import type { EmailLink } from '../../otp/email-links.ts'
import { createEmailLink } from '../../otp/index.ts'
import type { LinkContext } from '../../otp/link-context.ts'
import {
  applyAdminMetadata,
  findOrCreateUnconfirmedUser,
  lockUserByEmail,
  prepareInvitation,
  storePendingSignUp,
} from '../../users/index.ts'
import type { CreationPermit, SignUpInput, SignUpResult } from '../../users/sign-up/types.ts'
import { checkEmailFree } from '../email-change.ts'
import { type AdminLinkType, plans } from './admin-link-plans.ts'

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

type LinkDeps = Deps<'config' | 'otp' | 'users'>

/** Throws user_not_found, email_exists or validation_failed. */
export async function generateLink(
  deps: LinkDeps,
  trx: Trx,
  request: LinkRequest,
  context: LinkContext,
  now: Date,
): Promise<GeneratedLink> {
  const [type, registered] = await prepare(deps, trx, request, now)
  const { user: created } = registered
  const { kind, action, sent } = plans[type]
  await updateUser(trx, created.id, sent(now), now)
  const address = type === 'email_change_new' ? request.newEmail : request.email
  const link = await createEmailLink(deps.otp, trx, kind, { id: created.id, address }, context, now)
  await storePendingSignUp(trx, registered, now)
  const user = await findUser(trx, created.id)
  if (!user) throw unknownAddress()
  return { user, link, type, action }
}

async function prepare(
  deps: LinkDeps,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<[AdminLinkType, SignUpResult]> {
  const { type } = request
  if (mayCreate.has(type)) await applyAdminMetadata(deps.users, trx, toSignUpInput(request), now)
  if (type === 'signup') return [type, await signUp(deps, trx, request, now)]
  if (type === 'invite') {
    return [type, await prepareInvitation(deps.users, trx, toSignUpInput(request), now)]
  }
  if (type === 'email_change_current' || type === 'email_change_new') {
    return [type, { user: await changeEmail(deps, trx, request, now) }]
  }
  const user = await lockUserByEmail(trx, request.email, request.aud)
  if (user) return [type, { user }]
  if (type === 'magiclink') return ['signup', await signUp(deps, trx, request, now)]
  throw unknownAddress()
}

/** Credentials of an unverified account may not be its owner's: the sign-up replaces them. */
async function signUp(
  { users }: Deps<'users'>,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<SignUpResult> {
  const registered = await findOrCreateUnconfirmedUser(users, trx, toSignUpInput(request), now)
  if (!registered) throw emailExists()
  return registered
}

async function changeEmail(
  { config }: LinkDeps,
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

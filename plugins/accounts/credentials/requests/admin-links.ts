/** Links that an admin delivers: made as if the person had asked, and sent to nobody. */
import type { Trx } from '../../../../db/database.ts'
import { deleteTokens } from '../../../../db/one-time-tokens.ts'
import { updateUser } from '../../../../db/user-rows.ts'
import { findUser, type Metadata, type UserRecord } from '../../../../db/users.ts'
import { emailExists, userNotFound, validationFailed } from '../../../../errors.ts'
import type { House } from '../../../define-plugin.ts'
import type { AuditAction } from '../../audit/entry.ts'
import type { LinkContext } from '../../flows/link-context.ts'
import type { Link } from '../../otp/email-links.ts'
import type { Approval } from '../../users/approval.ts'
import type { Registrant, Registration } from '../../users/register.ts'
import { checkEmailFree } from '../email-change.ts'
import { type AdminLinkType, plans } from './admin-link-plans.ts'

export interface LinkRequest {
  type: AdminLinkType
  /** Addresses in their stored form. */
  email: string
  newEmail: string
  aud: string
  passwordHash: string | null
  data: Metadata
  /** For a new account. */
  approval: Approval | undefined
}

export interface GeneratedLink {
  user: UserRecord
  link: Link
  /** What the link verifies as; a magic link for a new person is a sign-up. */
  type: AdminLinkType
  action: AuditAction
}

/** Types that make the person when there is none. */
const mayCreate: ReadonlySet<AdminLinkType> = new Set(['signup', 'invite', 'magiclink'])

type LinkHouse = House<'config' | 'otp' | 'users'>

/** Throws user_not_found, email_exists or validation_failed. */
export async function generateLink(
  house: LinkHouse,
  trx: Trx,
  request: LinkRequest,
  context: LinkContext,
  now: Date,
): Promise<GeneratedLink> {
  const [type, registered] = await prepare(house, trx, request, now)
  const { user: person } = registered
  const { kind, action, sent } = plans[type]
  await updateUser(trx, person.id, sent(now), now)
  const address = type === 'email_change_new' ? request.newEmail : request.email
  const link = await house.otp.createLink(trx, kind, { id: person.id, address }, context, now)
  await house.users.keepForProof(trx, registered, now)
  const user = await findUser(trx, person.id)
  if (!user) throw unknownAddress()
  return { user, link, type, action }
}

async function prepare(
  house: LinkHouse,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<[AdminLinkType, Registration]> {
  const { type } = request
  if (mayCreate.has(type)) await house.users.addAdminData(trx, toRegistrant(request), now)
  if (type === 'signup') return [type, await signUp(house, trx, request, now)]
  if (type === 'invite') {
    return [type, await house.users.prepareInvitation(trx, toRegistrant(request), now)]
  }
  if (type === 'email_change_current' || type === 'email_change_new') {
    return [type, { user: await changeEmail(house, trx, request, now) }]
  }
  const user = await house.users.lockByEmail(trx, request.email, request.aud)
  if (user) return [type, { user }]
  if (type === 'magiclink') return ['signup', await signUp(house, trx, request, now)]
  throw unknownAddress()
}

/** What an unproven account already holds is not its owner's: the sign-up brings its own. */
async function signUp(
  { users }: House<'users'>,
  trx: Trx,
  request: LinkRequest,
  now: Date,
): Promise<Registration> {
  const registered = await users.register(trx, toRegistrant(request), now)
  if (!registered) throw emailExists()
  return registered
}

async function changeEmail(
  { config, users }: LinkHouse,
  trx: Trx,
  { type, email, newEmail, aud }: LinkRequest,
  now: Date,
): Promise<UserRecord> {
  if (type === 'email_change_current' && !config.AUTH_MAILER_SECURE_EMAIL_CHANGE_ENABLED) {
    throw validationFailed('Enable secure email change to generate link for current email')
  }
  const user = await users.lockByEmail(trx, email, aud)
  if (!user) throw unknownAddress()
  // A link to the address that they have would change nothing.
  if (newEmail === user.email) throw emailExists()
  await checkEmailFree(trx, user, newEmail)
  // A link that agrees to another new address must not agree to this one.
  if (user.email_change !== newEmail) {
    await deleteTokens(trx, user.id, ['email_change_token_current', 'email_change_token_new'])
  }
  await updateUser(trx, user.id, { email_change: newEmail }, now)
  return user
}

function toRegistrant({ email, ...asked }: LinkRequest): Registrant {
  const { aud, passwordHash, data, approval } = asked
  const contact = { provider: 'email' as const, address: email }
  return { contact, aud, passwordHash, data, approval, byAdmin: true }
}

const unknownAddress = () => userNotFound('User with this email not found')

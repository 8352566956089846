/** Handles requests for emails once the owner of the address is known. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { AuditAction } from '../../audit/actions.ts'
import { recordAudit } from '../../audit/index.ts'
import { mayReceive, sendLinkEmail } from '../../emails/index.ts'
import { checkRepeatInterval, perClientInterval } from '../../otp/index.ts'
import type { LinkContext } from '../../otp/links.ts'
import {
  findOrCreateUnconfirmedUser,
  lockUserByEmail,
  lockUserByUsername,
  storePendingSignUp,
  verifyEmail,
} from '../../users/index.ts'
import type { CreationPermit } from '../../users/sign-up/types.ts'
import { repeatEmailChange } from '../email-change.ts'

/** Plain JSON, so that a queue can store it. */
export interface EmailRequest {
  /** `sign_in`: a magic link that creates no account. `username_recovery`: the address is a username. */
  kind:
    | 'recovery'
    | 'username_recovery'
    | 'magic_link'
    | 'sign_in'
    | 'confirmation'
    | 'email_change'
  /** In its stored form. */
  address: string
  aud: string
  /** Metadata of a user whom this request signs up. */
  data: UserMetadata
  context: LinkContext
  ip: string
}

/** A request with the permit for a new account; undefined when none may be created. */
interface PermittedEmailRequest extends EmailRequest {
  permit: CreationPermit | undefined
}

type HandleRequest = (
  app: FastifyInstance,
  trx: Trx,
  request: PermittedEmailRequest,
  user: UserRecord | undefined,
  now: Date,
) => Promise<void>

const handlers: Record<EmailRequest['kind'], HandleRequest> = {
  async recovery(app, trx, request, user, now) {
    if (user) await send(app, trx, 'recovery', user, request, now)
  },

  async username_recovery(app, trx, request, user, now) {
    if (!user?.email || !mayReceive(app.emails.policy, user.email)) return
    const waiting = perClientInterval(user.email, request.context.network)
    await checkRepeatInterval(app, trx, 'email', 'recovery', waiting, now)
    await send(app, trx, 'recovery', user, request, now)
  },

  async magic_link(app, trx, request, user, now) {
    if (user && mayKeepAccount(app, user)) {
      await send(app, trx, 'magic_link', user, request, now)
    } else if (!app.config.AUTH_DISABLE_SIGNUP) {
      await signUp(app, trx, request, now)
    }
  },

  async sign_in(app, trx, request, user, now) {
    if (user) await handlers.magic_link(app, trx, request, user, now)
  },

  async confirmation(app, trx, request, user, now) {
    // An invitation confirms the address too: another link would invalidate it.
    if (!user || user.email_confirmed_at || user.invited_at) return
    await send(app, trx, 'confirmation', user, request, now)
  },

  async email_change(app, trx, request, user, now) {
    if (!user?.email_change) return
    await checkRepeatInterval(app, trx, 'email', 'email_change', request.address, now)
    await repeatEmailChange(app, trx, user, request.context, now)
  },
}

/** Sends the resulting email, if any. */
export async function handleEmailRequest(
  app: FastifyInstance,
  trx: Trx,
  request: PermittedEmailRequest,
  now: Date,
): Promise<void> {
  const find = request.kind === 'username_recovery' ? lockUserByUsername : lockUserByEmail
  const user = await find(trx, request.address, request.aud)
  await handlers[request.kind](app, trx, request, user, now)
}

async function send(
  app: FastifyInstance,
  trx: Trx,
  kind: 'recovery' | 'magic_link' | 'confirmation',
  user: UserRecord,
  { context, ip }: EmailRequest,
  now: Date,
): Promise<void> {
  await sendLinkEmail(app, trx, kind, user, context, now)
  const action: AuditAction =
    kind === 'confirmation' ? 'user_confirmation_requested' : 'user_recovery_requested'
  await recordAudit(app.audit, trx, action, user, { ip, now })
}

/**
 * The address is unverified: the requester is signed up without a password, and the link verifies an existing account.
 */
async function signUp(
  app: FastifyInstance,
  trx: Trx,
  request: PermittedEmailRequest,
  now: Date,
): Promise<void> {
  const { address, aud, data, permit } = request
  const contact = { provider: 'email' as const, address }
  const input = { contact, aud, passwordHash: null, data, permit, byAdmin: false }
  const registered = await findOrCreateUnconfirmedUser(app, trx, input, now)
  if (!registered) return
  const { user, claim } = registered
  if (claim || !app.config.AUTH_MAILER_AUTOCONFIRM) {
    await send(app, trx, 'confirmation', user, request, now)
    return storePendingSignUp(trx, registered, now)
  }
  const verified = await verifyEmail(app, trx, user.id, { isAssumed: true }, now)
  await send(app, trx, 'magic_link', verified, request, now)
}

/**
 * An account that is verified, invited or cannot be replaced is kept, and the link clears its unverified credentials;
 * any other one is signed up again by its link.
 */
function mayKeepAccount({ config }: FastifyInstance, user: UserRecord): boolean {
  const isVerified = user.email_confirmed_at !== null || user.phone_confirmed_at !== null
  const isFixed = config.AUTH_MAILER_AUTOCONFIRM || config.AUTH_DISABLE_SIGNUP
  return isVerified || user.invited_at !== null || isFixed
}

/**
 * Sign-up by email: a new user, a repeated sign-up with an unverified email, or an email in use, invited users
 * included. A verification removes credentials that were set before it, except those of its own sign-up.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { createSavepoint, releaseSavepoint } from '../../../db/core/savepoint.ts'
import { findUserByAnyEmail, type UserRecord } from '../../../db/users/users.ts'
import { recordAudit } from '../../audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../emails/index.ts'
import { perClientInterval, reserveInterval, reserveSendQuota } from '../../otp/index.ts'
import { repeatedBy, signUpAutoconfirmed } from './autoconfirmed.ts'
import { dryRunEmailSignUp } from './dry-run.ts'
import { storePendingSignUp } from './pending.ts'
import type { EmailSignUp, SignUpOutcome, SignUpResult } from './types.ts'
import { reuseOrCreateUnconfirmedUser } from './unconfirmed-user.ts'
import { toUnconfirmedUser } from './user-data.ts'

/** Throws over_email_send_rate_limit; everything else is an outcome. */
export function signUpByEmail(
  app: FastifyInstance,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  if (app.config.AUTH_MAILER_AUTOCONFIRM) return signUpAutoconfirmed(app, trx, signUp, now)
  return signUpWithMail(app, trx, signUp, now)
}

async function signUpWithMail(
  app: FastifyInstance,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { emails } = app
  const { user } = signUp
  const { address } = user.contact
  checkRecipient(emails.policy, address)
  const { network } = signUp.context
  await reserveInterval(app, trx, 'email', 'signup', perClientInterval(address, network), now)
  const owner = await findUserByAnyEmail(trx, address, user.aud)
  // The same statements run for a new email and one in use; only the end of the savepoint differs.
  await createSavepoint(trx, 'sign_up')
  const registered = await reuseOrCreateUnconfirmedUser(app, trx, user, owner, now)
  const outcome = registered
    ? await toBeConfirmed(app, trx, registered, signUp, now)
    : await taken(app, trx, signUp, owner, now)
  if (registered) await releaseSavepoint(trx, 'sign_up')
  // Also for an email in use: the remaining quota must not reveal it. Last, because all sends share this row.
  await reserveSendQuota(app, trx, 'email', { purpose: 'signup', to: address, network }, now)
  return outcome
}

async function toBeConfirmed(
  app: FastifyInstance,
  trx: Trx,
  registered: SignUpResult,
  { user: input, context, ip }: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { user } = registered
  await sendUncountedLinkEmail(app, trx, 'confirmation', user, context, now)
  await storePendingSignUp(trx, registered, now)
  await recordAudit(app.audit, trx, 'user_confirmation_requested', user, { ip, now })
  return { state: 'confirmation_required', user: toUnconfirmedUser(app, user, input.contact, now) }
}

async function taken(
  app: FastifyInstance,
  trx: Trx,
  signUp: EmailSignUp,
  owner: UserRecord | undefined,
  now: Date,
): Promise<SignUpOutcome> {
  // With autoconfirmed phone numbers, clients can detect known ones anyway.
  const reveal = app.config.AUTH_SMS_AUTOCONFIRM
  const dummy = reveal ? undefined : await dryRunEmailSignUp(app, trx, signUp, now)
  return repeatedBy(app, trx, owner, dummy, { ip: signUp.ip, now })
}

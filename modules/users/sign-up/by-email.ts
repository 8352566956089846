/**
 * Sign-up by email: a new user, a repeated sign-up with an unverified email, or an email in use, invited users
 * included. A verification removes credentials that were set before it, except those of its own sign-up.
 */
import type { Trx } from '../../../db/core/database.ts'
import { createSavepoint, releaseSavepoint } from '../../../db/core/savepoint.ts'
import { findUserByAnyEmail, type UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { recordAudit } from '../../audit/index.ts'
import { checkRecipient, sendUncountedLinkEmail } from '../../emails/index.ts'
import { perClientInterval, reserveInterval, reserveSendQuota } from '../../otp/index.ts'
import { repeatedBy, signUpAutoconfirmed } from './autoconfirmed.ts'
import type { CreateUserDeps } from './create-user.ts'
import { dryRunEmailSignUp } from './dry-run.ts'
import { storePendingSignUp } from './pending.ts'
import { toUnconfirmedUser } from './response.ts'
import type { EmailSignUp, SignUpOutcome, SignUpResult } from './types.ts'
import { reuseOrCreateUnconfirmedUser } from './unconfirmed-user.ts'

type SignUpDeps = CreateUserDeps & Deps<'audit' | 'emails' | 'otp' | 'sessions' | 'usernames'>

/** Throws over_email_send_rate_limit; everything else is an outcome. */
export function signUpByEmail(
  deps: SignUpDeps,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  if (deps.config.AUTH_MAILER_AUTOCONFIRM) return signUpAutoconfirmed(deps, trx, signUp, now)
  return signUpWithMail(deps, trx, signUp, now)
}

async function signUpWithMail(
  deps: SignUpDeps,
  trx: Trx,
  signUp: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { emails, otp } = deps
  const { user } = signUp
  const { address } = user.contact
  checkRecipient(emails.policy, address)
  const { network } = signUp.context
  await reserveInterval(otp, trx, 'email', 'signup', perClientInterval(address, network), now)
  const owner = await findUserByAnyEmail(trx, address, user.aud)
  // The same statements run for a new email and one in use; only the end of the savepoint differs.
  await createSavepoint(trx, 'sign_up')
  const registered = await reuseOrCreateUnconfirmedUser(deps, trx, user, owner, now)
  const outcome = registered
    ? await toBeConfirmed(deps, trx, registered, signUp, now)
    : await taken(deps, trx, signUp, owner, now)
  if (registered) await releaseSavepoint(trx, 'sign_up')
  // Also for an email in use: the remaining quota must not reveal it. Last, because all sends share this row.
  await reserveSendQuota(otp, trx, 'email', { purpose: 'signup', to: address, network }, now)
  return outcome
}

async function toBeConfirmed(
  deps: Deps<'audit' | 'config' | 'emails' | 'events'>,
  trx: Trx,
  registered: SignUpResult,
  { user: input, context, ip }: EmailSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const { user } = registered
  await sendUncountedLinkEmail(deps.emails, trx, 'confirmation', user, context, now)
  await storePendingSignUp(trx, registered, now)
  await recordAudit(deps.audit, trx, 'user_confirmation_requested', user, { ip, now })
  return { state: 'confirmation_required', user: toUnconfirmedUser(deps, user, input.contact, now) }
}

async function taken(
  deps: SignUpDeps,
  trx: Trx,
  signUp: EmailSignUp,
  owner: UserRecord | undefined,
  now: Date,
): Promise<SignUpOutcome> {
  // With autoconfirmed phone numbers, clients can detect known ones anyway.
  const reveal = deps.config.AUTH_SMS_AUTOCONFIRM
  const dummy = reveal ? undefined : await dryRunEmailSignUp(deps, trx, signUp, now)
  return repeatedBy(deps, trx, owner, dummy, { ip: signUp.ip, now })
}

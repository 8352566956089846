/** Sign-in with a passkey. All rejections before the signature is verified are the same. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Db, Trx } from '../../db/core/database.ts'
import {
  findPasskeyCredential,
  type PasskeyCredential,
  updatePasskeySignCount,
} from '../../db/passkeys/credentials.ts'
import { isBanned, type UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  emailNotConfirmed,
  phoneNotConfirmed,
  userBanned,
  webauthnVerificationFailed,
} from '../../schemas/errors.ts'
import { type AuditContext, createAuditEntry, recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import type { CreatedSession } from '../sessions/create.ts'
import { createSession } from '../sessions/index.ts'
import { lockAndLoadUser } from '../users/index.ts'
import type { PasskeyCeremonyDeps } from './challenges.ts'
import type { AuthenticatorData } from './webauthn/verify-response.ts'

/** The passkey and its authenticator data. */
interface PasskeyAssertionResult {
  passkey: PasskeyCredential
  facts: AuthenticatorData
}

/** A rejection that writes something is returned, not thrown, so that it is committed. */
type PasskeySignInOutcome = { state: 'opened'; opened: CreatedSession } | { state: 'cloned' }

/** The claimed credential; unverified. */
const Claims = Type.Object({
  id: Type.String({ minLength: 1 }),
  response: Type.Object({ userHandle: Type.String({ minLength: 1 }) }),
})

/** Throws webauthn_verification_failed. */
export async function verifyPasskeyResponse(
  { ceremonies }: PasskeyCeremonyDeps,
  db: Db,
  response: unknown,
  challenge: string,
): Promise<PasskeyAssertionResult> {
  if (!Value.Check(Claims, response)) throw webauthnVerificationFailed()
  const passkey = await findPasskeyCredential(db, Buffer.from(response.id, 'base64url'))
  const handle = Buffer.from(response.response.userHandle, 'base64url')
  if (!passkey || !handle.equals(ceremonies.userHandle(passkey.user_id))) {
    throw webauthnVerificationFailed()
  }
  const { credential_id: id, public_key: publicKey, backup_eligible: backupEligible } = passkey
  const facts = await ceremonies
    .verifyAssertion(response, challenge, { id, publicKey, backupEligible })
    .catch((error) => {
      throw webauthnVerificationFailed(error)
    })
  return { passkey, facts }
}

type AcceptDeps = Deps<'audit' | 'config' | 'emails' | 'log' | 'sessions' | 'users'>

/**
 * Creates the session. Throws webauthn_verification_failed, email_not_confirmed, phone_not_confirmed or user_banned.
 */
export async function completePasskeySignIn(
  deps: AcceptDeps,
  trx: Trx,
  { passkey, facts }: PasskeyAssertionResult,
  { ip, clientInfo }: { ip: string; clientInfo: ClientInfo },
  now: Date,
): Promise<PasskeySignInOutcome> {
  const { audit, config, sessions } = deps
  const user = await lockAndLoadUser(trx, passkey.user_id)
  if (!user || user.deleted_at) throw webauthnVerificationFailed()
  checkState(deps, user, now)
  const advance = await updatePasskeySignCount(trx, passkey.id, facts, now)
  if (advance === 'gone') throw webauthnVerificationFailed()
  if (advance === 'counter_went_back') {
    await reportClone(deps, trx, user, passkey, { ip, now })
    return { state: 'cloned' }
  }
  const entry = createAuditEntry(audit, 'login', user, ip, {
    provider: 'passkey',
    passkey_id: passkey.id,
  })
  const aal = config.AUTH_PASSKEY_AAL2 && facts.userVerified ? 'aal2' : 'aal1'
  const assertion = { method: 'passkey', aal, clientInfo, audit: entry } as const
  return { state: 'opened', opened: await createSession(sessions, trx, user, assertion, now) }
}

function checkState({ config }: Deps<'config'>, user: UserRecord, now: Date): void {
  const needsProof = !config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS
  if (user.email && !user.email_confirmed_at && needsProof) throw emailNotConfirmed(undefined, 403)
  if (user.phone && !user.phone_confirmed_at) throw phoneNotConfirmed(undefined, 403)
  if (isBanned(user, now)) throw userBanned(403)
}

/** A decreased signature counter means a cloned authenticator: it is rejected, recorded, and the user is notified. */
async function reportClone(
  { audit, emails, log }: Deps<'audit' | 'emails' | 'log'>,
  trx: Trx,
  user: UserRecord,
  { id }: PasskeyCredential,
  { ip, now }: AuditContext,
): Promise<void> {
  log.warn({ passkey_id: id }, 'passkey rejected: its signature counter decreased')
  const traits = { passkey_id: id, reason: 'cloned' }
  await recordAudit(audit, trx, 'passkey_refused', user, { ip, now, traits })
  await notifyUser(emails, trx, user, { kind: 'security_key_refused_notification' }, now)
}

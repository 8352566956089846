/** Signing in with a passkey. Until its signature is known to be right, every refusal is the same. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Db, Trx } from '../../../../db/database.ts'
import { isBanned, type UserRecord } from '../../../../db/users.ts'
import {
  advancePasskey,
  findPasskeyKey,
  type PasskeyKey,
} from '../../../../db/webauthn-credentials.ts'
import {
  emailNotConfirmed,
  phoneNotConfirmed,
  userBanned,
  webauthnVerificationFailed,
} from '../../../../errors.ts'
import type { Client } from '../../../client-ip.ts'
import type { House } from '../../../define-plugin.ts'
import type { StoredSession } from '../../sessions/open.ts'
import type { AnswerFacts } from '../answers.ts'
import type { CeremonyHouse } from './challenges.ts'

/** The passkey that answered, and what it said. */
export interface PasskeyProof {
  passkey: PasskeyKey
  facts: AnswerFacts
}

/** A refusal that has something to write down is returned, not thrown. */
export type Outcome = { state: 'opened'; opened: StoredSession } | { state: 'cloned' }

/** Who answers; nothing of it is proven. */
const Claims = Type.Object({
  id: Type.String({ minLength: 1 }),
  response: Type.Object({ userHandle: Type.String({ minLength: 1 }) }),
})

/** Throws webauthn_verification_failed. */
export async function judge(
  { ceremonies }: CeremonyHouse,
  db: Db,
  answer: unknown,
  challenge: string,
): Promise<PasskeyProof> {
  if (!Value.Check(Claims, answer)) throw webauthnVerificationFailed()
  const passkey = await findPasskeyKey(db, Buffer.from(answer.id, 'base64url'))
  const handle = Buffer.from(answer.response.userHandle, 'base64url')
  if (!passkey || !handle.equals(ceremonies.userHandle(passkey.user_id))) {
    throw webauthnVerificationFailed()
  }
  const { credential_id: id, public_key: publicKey, backup_eligible: backupEligible } = passkey
  const facts = await ceremonies
    .verifyAnswer(answer, challenge, { id, publicKey, backupEligible })
    .catch((error) => {
      throw webauthnVerificationFailed(error)
    })
  return { passkey, facts }
}

type AcceptHouse = House<'audit' | 'config' | 'emails' | 'log' | 'sessions' | 'users'>

/** Opens the session. Throws webauthn_verification_failed, email_not_confirmed, phone_not_confirmed or user_banned. */
export async function accept(
  house: AcceptHouse,
  trx: Trx,
  { passkey, facts }: PasskeyProof,
  { ip, client }: { ip: string; client: Client },
  now: Date,
): Promise<Outcome> {
  const { audit, config, sessions, users } = house
  const user = await users.lock(trx, passkey.user_id)
  if (!user || user.deleted_at) throw webauthnVerificationFailed()
  checkState(house, user, now)
  const advance = await advancePasskey(trx, passkey.id, facts, now)
  if (advance === 'gone') throw webauthnVerificationFailed()
  if (advance === 'counter went back') {
    await reportClone(house, trx, user, passkey, { ip, now })
    return { state: 'cloned' }
  }
  const entry = audit.entry('login', user, ip, { provider: 'passkey', passkey_id: passkey.id })
  const aal = config.AUTH_PASSKEY_AAL2 && facts.userVerified ? 'aal2' : 'aal1'
  const proof = { method: 'passkey', aal, client, audit: entry } as const
  return { state: 'opened', opened: await sessions.open(trx, user, proof, now) }
}

function checkState({ config }: House<'config'>, user: UserRecord, now: Date): void {
  const needsProof = !config.AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS
  if (user.email && !user.email_confirmed_at && needsProof) throw emailNotConfirmed(undefined, 403)
  if (user.phone && !user.phone_confirmed_at) throw phoneNotConfirmed(undefined, 403)
  if (isBanned(user, now)) throw userBanned(403)
}

/** A passkey whose counter went back exists twice: it is refused, written down and told to the person. */
async function reportClone(
  { audit, emails, log }: House<'audit' | 'emails' | 'log'>,
  trx: Trx,
  user: UserRecord,
  { id }: PasskeyKey,
  { ip, now }: { ip: string; now: Date },
): Promise<void> {
  log.warn({ passkey_id: id }, 'a passkey was refused: its counter went back')
  const traits = { passkey_id: id, reason: 'cloned' }
  await audit.record(trx, 'passkey_refused', user, { ip, now, traits })
  await emails.notify(trx, user, { kind: 'security_key_refused_notification' }, now)
}

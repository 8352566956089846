/** A person adds a passkey. */
import type { Trx } from '../../../../db/database.ts'
import { isUniqueViolation } from '../../../../db/unique-violation.ts'
import {
  findPasskeys,
  insertPasskey,
  type PasskeyRow,
} from '../../../../db/webauthn-credentials.ts'
import {
  insufficientAal,
  tooManyPasskeys,
  validationFailed,
  webauthnCredentialExists,
} from '../../../../errors.ts'
import type { Member } from '../../../bearer-auth.ts'
import type { House } from '../../../define-plugin.ts'
import type { CreatedKey } from '../answers.ts'
import { passkeyName } from './names.ts'

/** Throws validation_failed for people of an identity provider, insufficient_aal where a second factor is owed. */
export function checkMayAdd({ bearerAuth }: House<'bearerAuth'>, member: Member, now: Date): void {
  if (member.user.is_sso_user) {
    throw validationFailed('People who sign in through SSO cannot register passkeys', 422)
  }
  if (!bearerAuth.isConfirmed(member, now)) {
    throw insufficientAal('AAL2 required to register a passkey', 403)
  }
}

/** Throws too_many_passkeys. */
export function checkRoom({ config }: House<'config'>, count: number): void {
  if (count >= config.AUTH_PASSKEY_MAX_PASSKEYS_PER_USER) throw tooManyPasskeys()
}

/**
 * Stores the key pair under the name of whatever keeps it. The caller holds the member. Throws too_many_passkeys,
 * webauthn_credential_exists, and like checkMayAdd.
 */
export async function register(
  house: House<'audit' | 'bearerAuth' | 'config'>,
  trx: Trx,
  member: Member,
  key: CreatedKey,
  { ip, now }: { ip: string; now: Date },
): Promise<PasskeyRow> {
  const { user } = member
  checkMayAdd(house, member, now)
  checkRoom(house, (await findPasskeys(trx, user.id)).length)
  const passkey = {
    user_id: user.id,
    credential_id: key.id,
    public_key: key.publicKey,
    attestation_type: key.attestation,
    aaguid: key.aaguid,
    sign_count: key.counter,
    transports: key.transports,
    backup_eligible: key.backupEligible,
    backed_up: key.backedUp,
    friendly_name: passkeyName(key.aaguid),
  }
  const row = await insertPasskey(trx, passkey, now).catch((error) => {
    throw isUniqueViolation(error) ? webauthnCredentialExists() : error
  })
  const traits = { passkey_id: row.id }
  await house.audit.record(trx, 'passkey_created', user, { ip, now, traits })
  return row
}

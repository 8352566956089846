/** Registration of a passkey. */
import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/unique-violation.ts'
import { findPasskeys, insertPasskey, type PasskeyRow } from '../../db/passkeys/credentials.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  tooManyPasskeys,
  validationFailed,
  webauthnCredentialExists,
} from '../../schemas/errors.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'
import { recordNewMethod, requireVerifiedFactor } from '../credentials/index.ts'
import { notifyUser } from '../emails/index.ts'
import { passkeyName } from './names.ts'
import type { RegisteredCredential } from './webauthn/verify-response.ts'

/** Throws validation_failed for SSO users, insufficient_aal where a second factor is required. */
export function checkCanAddPasskey(
  { credentials }: Deps<'credentials'>,
  auth: SessionAuth,
  now: Date,
): void {
  if (auth.user.is_sso_user) {
    throw validationFailed('Users who sign in through SSO cannot register passkeys', 422)
  }
  requireVerifiedFactor(credentials, auth, 'passkey', now)
}

/** Throws too_many_passkeys. */
export function checkPasskeyLimit({ config }: Deps<'config'>, count: number): void {
  if (count >= config.AUTH_PASSKEY_MAX_PASSKEYS_PER_USER) throw tooManyPasskeys()
}

/**
 * Stores the credential under the name of its authenticator. The caller must have locked the session. Throws
 * too_many_passkeys, webauthn_credential_exists, and the errors of checkCanAddPasskey.
 */
export async function registerPasskey(
  deps: Deps<'audit' | 'config' | 'credentials' | 'emails'>,
  trx: Trx,
  auth: SessionAuth,
  key: RegisteredCredential,
  { ip, now }: AuditContext,
): Promise<PasskeyRow> {
  const { user } = auth
  checkCanAddPasskey(deps, auth, now)
  checkPasskeyLimit(deps, (await findPasskeys(trx, user.id)).length)
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
  await recordNewMethod(trx, user, 'passkey', now)
  const traits = { passkey_id: row.id }
  await recordAudit(deps.audit, trx, 'passkey_created', user, { ip, now, traits })
  const added = { kind: 'passkey_added_notification', PasskeyName: row.friendly_name } as const
  await notifyUser(deps.emails, trx, user, added, now)
  return row
}

/** Registration of a passkey. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import { findPasskeys, insertPasskey, type PasskeyRow } from '../../db/passkeys/credentials.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import {
  tooManyPasskeys,
  validationFailed,
  webauthnCredentialExists,
} from '../../schemas/errors.ts'
import { recordAccess, requireVerifiedFactor } from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import type { RegisteredCredential } from './webauthn/verify-response.ts'

/** Throws validation_failed for SSO users, insufficient_aal where a second factor is required. */
export function checkCanAddPasskey(app: FastifyInstance, auth: SessionAuth, now: Date): void {
  if (auth.user.is_sso_user) {
    throw validationFailed('Users who sign in through SSO cannot register passkeys', 422)
  }
  requireVerifiedFactor(app, auth, 'passkey', now)
}

/** Throws too_many_passkeys. */
export function checkPasskeyLimit({ config }: FastifyInstance, count: number): void {
  if (count >= config.AUTH_PASSKEY_MAX_PASSKEYS_PER_USER) throw tooManyPasskeys()
}

/**
 * Stores the credential under the name of its authenticator. The caller must have locked the session. Throws
 * too_many_passkeys, webauthn_credential_exists, and the errors of checkCanAddPasskey.
 */
export async function registerPasskey(
  app: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  key: RegisteredCredential,
  { ip, now }: AuditContext,
): Promise<PasskeyRow> {
  const { user } = auth
  checkCanAddPasskey(app, auth, now)
  checkPasskeyLimit(app, (await findPasskeys(trx, user.id)).length)
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
  const { id, friendly_name: name } = row
  await recordAccess(app, trx, { user, grant: { kind: 'passkey', id, name, ip } }, now)
  return row
}

/** Names of authenticators by AAGUID. The AAGUID is not attested, so it is used for display only. */
const makers: Readonly<Record<string, string>> = {
  'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4': 'Google Password Manager',
  'adce0002-35bc-c60a-648b-0b25f1f05503': 'Chrome on Mac',
  '771b48fd-d3d4-4f74-9232-fc157ab0507a': 'Edge on Mac',
  'b5397666-4885-aa6b-cebf-e52262a439a2': 'Chromium Browser',
  '08987058-cadc-4b81-b6e1-30de50dcbe96': 'Windows Hello',
  '9ddd1817-af5a-4672-a2b9-3e3dd95000a9': 'Windows Hello',
  '6028b017-b1d4-4c02-b4b3-afcdafc96bb2': 'Windows Hello',
  'd3452668-01fd-4c12-926c-83a4204853aa': 'Microsoft Password Manager',
  'fbfc3007-154e-4ecc-8c0b-6e020557d7bd': 'Apple Passwords',
  'dd4ec289-e01d-41c9-bb89-70fa845d4bf2': 'iCloud Keychain (Managed)',
  '53414d53-554e-4700-0000-000000000000': 'Samsung Pass',
  'bada5566-a7aa-401f-bd96-45619a55120d': '1Password',
  'd548826e-79b4-db40-a3d8-11116f7e8349': 'Bitwarden',
  '531126d6-e717-415c-9320-3d9aa6981239': 'Dashlane',
  'fdb141b2-5d84-443e-8a35-4698c205a502': 'KeePassXC',
  'eaecdef2-1c31-5634-8639-f1cbd9c00a08': 'KeePassDX',
  '0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6': 'Keeper',
  'b78a0a55-6ef8-d246-a042-ba0f6d55050c': 'LastPass',
  'b84e4048-15dc-4dd0-8640-f4f60813c8af': 'NordPass',
  '50726f74-6f6e-5061-7373-50726f746f6e': 'Proton Pass',
  'f3809540-7f14-49c1-a8b3-8f813b225541': 'Enpass',
  'b35a26b2-8f6e-4697-ab1d-d44db4da28c6': 'Zoho Vault',
  'a10c6dd9-465e-4226-8198-c7c44b91c555': 'Kaspersky Password Manager',
  'de503f9c-21a4-4f76-b4b7-558eb55c6f89': 'Devolutions',
  '891494da-2c90-4d31-a9cd-4eab0aed1309': 'Sésame',
  '22248c4c-7a12-46e2-9a41-44291b373a4d': 'LogMeOnce',
}

function passkeyName(aaguid: string): string {
  return makers[aaguid] ?? 'Passkey'
}

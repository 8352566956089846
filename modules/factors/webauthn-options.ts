/** WebAuthn options of a security key factor (WebAuthn Level 3 §5.4 and §5.5). */
import type { FactorRecord } from '../../db/factors/factors.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { Ceremonies } from '../passkeys/webauthn/ceremonies.ts'
import { credentialId, getFactorCredential } from './credential.ts'

/** Transports of existing keys, as in GoTrue. */
const roaming = ['usb', 'nfc'] as const

type Ceremony =
  | { type: 'create'; publicKey: Awaited<ReturnType<Ceremonies['keyCreation']>> }
  | { type: 'request'; publicKey: Awaited<ReturnType<Ceremonies['keyRequest']>> }

/** Creation options for an unverified factor, otherwise request options for any key of the user. */
export async function ceremonyFor(
  { passkeys: { ceremonies } }: Deps<'passkeys'>,
  user: UserRecord,
  factor: FactorRecord,
  verified: readonly FactorRecord[],
): Promise<Ceremony> {
  const known = verified.flatMap((one) => getFactorCredential(one) ?? [])
  if (factor.status === 'verified') {
    const keys = known.map((credential) => ({
      id: credentialId(credential),
      ...(credential.transport && { transports: credential.transport }),
    }))
    return { type: 'request', publicKey: await ceremonies.keyRequest(keys) }
  }
  const keys = known.map((credential) => ({
    id: credentialId(credential),
    transports: [...roaming],
  }))
  return { type: 'create', publicKey: await ceremonies.keyCreation(user, keys) }
}

/** The challenge in the format of GoTrue's library, so that GoTrue can verify the response. */
export function createSessionData(
  { config, passkeys: { ceremonies } }: Deps<'config' | 'passkeys'>,
  userId: string,
  { type, publicKey }: Ceremony,
  now: Date,
): object {
  const expiry = now.getTime() + config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION * 1000
  const allowed = type === 'request' ? (publicKey.allowCredentials ?? []) : []
  return {
    challenge: publicKey.challenge,
    rpId: config.AUTH_WEBAUTHN_RP_ID,
    user_id: ceremonies.userHandle(userId).toString('base64'),
    ...(type === 'request' && {
      allowed_credentials: allowed.map(({ id }) => Buffer.from(id, 'base64url').toString('base64')),
    }),
    ...(type === 'create' && { credParams: publicKey.pubKeyCredParams }),
    expires: new Date(expiry),
    userVerification: 'preferred',
  }
}

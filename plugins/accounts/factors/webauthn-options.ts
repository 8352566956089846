/** What a browser is asked to do with a security key (WebAuthn Level 3 §5.4 and §5.5). */
import type { FactorRecord } from '../../../db/factors.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import type { Ceremonies } from '../webauthn/ceremonies.ts'
import { credentialId, credentialOf } from './credential.ts'

/** How a key that is there already may be reached, as GoTrue asks. */
const roaming = ['usb', 'nfc'] as const

export type Ceremony =
  | { type: 'create'; publicKey: Awaited<ReturnType<Ceremonies['keyCreation']>> }
  | { type: 'request'; publicKey: Awaited<ReturnType<Ceremonies['keyRequest']>> }

/** A factor that was never proven is asked for a new key pair; another one, for a signature by any key of the person. */
export async function ceremonyFor(
  { webauthn }: House<'webauthn'>,
  user: UserRecord,
  factor: FactorRecord,
  verified: readonly FactorRecord[],
): Promise<Ceremony> {
  const known = verified.flatMap((one) => credentialOf(one) ?? [])
  if (factor.status === 'verified') {
    const keys = known.map((credential) => ({
      id: credentialId(credential),
      ...(credential.transport && { transports: credential.transport }),
    }))
    return { type: 'request', publicKey: await webauthn.keyRequest(keys) }
  }
  const keys = known.map((credential) => ({
    id: credentialId(credential),
    transports: [...roaming],
  }))
  return { type: 'create', publicKey: await webauthn.keyCreation(user, keys) }
}

/** The challenge in the form that GoTrue's library keeps, so that the answer may go there, too. */
export function sessionDataOf(
  { config, webauthn }: House<'config' | 'webauthn'>,
  userId: string,
  { type, publicKey }: Ceremony,
  now: Date,
): object {
  const expiry = now.getTime() + config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION * 1000
  const allowed = type === 'request' ? (publicKey.allowCredentials ?? []) : []
  return {
    challenge: publicKey.challenge,
    rpId: config.AUTH_WEBAUTHN_RP_ID,
    user_id: webauthn.userHandle(userId).toString('base64'),
    ...(type === 'request' && {
      allowed_credentials: allowed.map(({ id }) => Buffer.from(id, 'base64url').toString('base64')),
    }),
    ...(type === 'create' && { credParams: publicKey.pubKeyCredParams }),
    expires: new Date(expiry),
    userVerification: 'preferred',
  }
}

/** What a browser is asked to do with a security key (WebAuthn Level 3 §5.4 and §5.5). */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'

import type { FactorRecord } from '../../../db/factors.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { credentialId, credentialOf } from './credential.ts'
import { relyingParty } from './relying-party.ts'

export type Ceremony =
  | { type: 'create'; publicKey: PublicKeyCredentialCreationOptionsJSON }
  | { type: 'request'; publicKey: PublicKeyCredentialRequestOptionsJSON }

/** COSE algorithms: ECDSA, RSA with both paddings, EdDSA. */
export const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]
const timeout = 300_000

/** A factor that was never proven is asked for a new key pair; another one, for a signature by any key of the person. */
export async function ceremonyFor(
  house: House<'config'>,
  user: UserRecord,
  factor: FactorRecord,
  verified: readonly FactorRecord[],
): Promise<Ceremony> {
  const { id: rpID, name: rpName } = relyingParty(house)
  const known = verified.flatMap((one) => credentialOf(one) ?? [])
  if (factor.status === 'verified') {
    const allowCredentials = known.map((credential) => ({
      id: credentialId(credential),
      ...(credential.transport && { transports: credential.transport }),
    }))
    const publicKey = await generateAuthenticationOptions({ rpID, timeout, allowCredentials })
    return { type: 'request', publicKey }
  }
  const name = user.email || user.phone || user.id
  const publicKey = await generateRegistrationOptions({
    rpName,
    rpID,
    userID: new Uint8Array(userHandle(user.id)),
    userName: name,
    userDisplayName: name,
    timeout,
    excludeCredentials: known.map((credential) => ({
      id: credentialId(credential),
      transports: ['usb', 'nfc'],
    })),
    authenticatorSelection: {},
    supportedAlgorithmIDs: algorithms,
  })
  return { type: 'create', publicKey }
}

/** How authenticators know the person: the letters of their id. */
export function userHandle(userId: string): Buffer {
  return Buffer.from(userId, 'ascii')
}

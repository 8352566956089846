/** WebAuthn options for browsers, and verification of their responses. */
import type {
  GenerateAuthenticationOptionsOpts,
  GenerateRegistrationOptionsOpts,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'

import type { UserRecord } from '../../../db/users/users.ts'
import { unexpectedFailure } from '../../../schemas/errors.ts'
import { loadLibrary, type RelyingParty } from './relying-party.ts'
import {
  type AuthenticatorData,
  type KnownCredential,
  type RegisteredCredential,
  verifyAttestation,
  verifyWebauthnAssertion,
} from './verify-response.ts'

export type Ceremonies = ReturnType<typeof createCeremonies>

/** COSE algorithms (RFC 9053): ECDSA, RSA with both paddings, EdDSA. */
const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]

/** How long the browser waits for the user, in milliseconds. */
const timeout = 300_000

/** An existing credential, for `allowCredentials` and `excludeCredentials`. */
interface CredentialDescriptor {
  /** base64url. */
  id: string
  transports?: string[]
}

/** Without a relying party every function but `userHandle` throws unexpected_failure. */
export function createCeremonies(relyingParty: RelyingParty | undefined) {
  const site = () => requireSite(relyingParty)

  return {
    userHandle,

    /** For `navigator.credentials.create()`: a discoverable credential, unless the device has one of `known`. */
    async passkeyCreation(user: UserRecord, known: readonly CredentialDescriptor[]) {
      const name = user.raw_user_meta_data?.name
      return creation(site(), user, known, {
        userDisplayName: typeof name === 'string' ? name : '',
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      })
    },

    /** For `navigator.credentials.create()`: a credential that need not be discoverable. */
    keyCreation: async (user: UserRecord, known: readonly CredentialDescriptor[]) =>
      creation(site(), user, known, { authenticatorSelection: {} }),

    /** For `navigator.credentials.get()`: any passkey of this site. */
    passkeyRequest: async (): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      request(site(), { userVerification: 'preferred' }),

    /** For `navigator.credentials.get()`: one of these credentials. */
    keyRequest: async (
      keys: readonly CredentialDescriptor[],
    ): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      request(site(), { allowCredentials: [...keys] }),

    /** The credential created for the challenge. Throws CredentialRejectedError. */
    verifyAttestation: (credential: unknown, challenge: string): Promise<RegisteredCredential> =>
      verifyAttestation(site(), { credential, challenge, algorithms }),

    /** The authenticator data signed by `key`. Throws CredentialRejectedError. */
    verifyAssertion: (
      credential: unknown,
      challenge: string,
      key: KnownCredential,
    ): Promise<AuthenticatorData> =>
      verifyWebauthnAssertion(site(), { credential, challenge, key }),
  }
}

function requireSite(relyingParty: RelyingParty | undefined): RelyingParty {
  if (relyingParty) return relyingParty
  throw unexpectedFailure(
    'Passkeys and security keys cannot be used: the operator has to set AUTH_WEBAUTHN_RP_ID, AUTH_WEBAUTHN_RP_DISPLAY_NAME and AUTH_WEBAUTHN_RP_ORIGINS',
  )
}

async function creation(
  { id: rpID, name: rpName }: RelyingParty,
  { id, email, phone }: UserRecord,
  known: readonly CredentialDescriptor[],
  rest: Pick<GenerateRegistrationOptionsOpts, 'userDisplayName' | 'authenticatorSelection'>,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const userName = email || phone || id
  const { generateRegistrationOptions } = await loadLibrary()
  return generateRegistrationOptions({
    rpName,
    rpID,
    userName,
    timeout,
    userID: new Uint8Array(userHandle(id)),
    excludeCredentials: [...known],
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    ...rest,
    userDisplayName: rest.userDisplayName || userName,
  })
}

async function request(
  { id: rpID }: RelyingParty,
  allowed: Pick<GenerateAuthenticationOptionsOpts, 'allowCredentials' | 'userVerification'>,
) {
  const { generateAuthenticationOptions } = await loadLibrary()
  return generateAuthenticationOptions({ rpID, timeout, ...allowed })
}

/** The user handle: the bytes of the id as text. */
function userHandle(userId: string): Buffer {
  return Buffer.from(userId, 'ascii')
}

/** What a browser is asked to do with key pairs, and whether it did that. */
import type {
  GenerateAuthenticationOptionsOpts,
  GenerateRegistrationOptionsOpts,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'

import type { UserRecord } from '../../../db/users.ts'
import { unexpectedFailure } from '../../../errors.ts'
import {
  type AnswerFacts,
  type CreatedKey,
  type KnownKey,
  verifyAnswer,
  verifyCreation,
} from './answers.ts'
import { loadLibrary } from './library.ts'
import type { RelyingParty } from './relying-party.ts'

export type Ceremonies = ReturnType<typeof createCeremonies>

/** COSE algorithms (RFC 9053): ECDSA, RSA with both paddings, EdDSA. */
const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]

/** Milliseconds for which a browser waits for the person. */
const timeout = 300_000

/** A key pair that a person has, as a browser is told of it. */
export interface ListedKey {
  /** base64url. */
  id: string
  transports?: string[]
}

/** Without a relying party every function but `userHandle` throws unexpected_failure. */
export function createCeremonies(relyingParty: RelyingParty | undefined) {
  function site(): RelyingParty {
    if (relyingParty) return relyingParty
    throw unexpectedFailure(
      'Passkeys and security keys cannot be used: the operator has to set AUTH_WEBAUTHN_RP_ID, AUTH_WEBAUTHN_RP_DISPLAY_NAME and AUTH_WEBAUTHN_RP_ORIGINS.',
    )
  }

  async function creation(
    { id, email, phone }: UserRecord,
    known: readonly ListedKey[],
    rest: Pick<GenerateRegistrationOptionsOpts, 'userDisplayName' | 'authenticatorSelection'>,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { id: rpID, name: rpName } = site()
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
    allowed: Pick<GenerateAuthenticationOptionsOpts, 'allowCredentials' | 'userVerification'>,
  ) {
    const { id: rpID } = site()
    const { generateAuthenticationOptions } = await loadLibrary()
    return generateAuthenticationOptions({ rpID, timeout, ...allowed })
  }

  return {
    userHandle,

    /** For `navigator.credentials.create()`: a passkey, unless the device has one of `known` already. */
    passkeyCreation(user: UserRecord, known: readonly ListedKey[]) {
      const name = user.raw_user_meta_data?.name
      return creation(user, known, {
        userDisplayName: typeof name === 'string' ? name : '',
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
      })
    },

    /** For `navigator.credentials.create()`: a key pair that need not be found without the person's name. */
    keyCreation: (user: UserRecord, known: readonly ListedKey[]) =>
      creation(user, known, { authenticatorSelection: {} }),

    /** For `navigator.credentials.get()`: any passkey for this site. */
    passkeyRequest: (): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      request({ userVerification: 'preferred' }),

    /** For `navigator.credentials.get()`: one of these keys. */
    keyRequest: (keys: readonly ListedKey[]): Promise<PublicKeyCredentialRequestOptionsJSON> =>
      request({ allowCredentials: [...keys] }),

    /** The key pair that was made for the challenge. Throws AnswerRefused. */
    verifyCreation: (answer: unknown, challenge: string): Promise<CreatedKey> =>
      verifyCreation(site(), { answer, challenge, algorithms }),

    /** What an answer says that `key` has signed. Throws AnswerRefused. */
    verifyAnswer: (answer: unknown, challenge: string, key: KnownKey): Promise<AnswerFacts> =>
      verifyAnswer(site(), { answer, challenge, key }),
  }
}

/** How authenticators know the person: the letters of their id. */
function userHandle(userId: string): Buffer {
  return Buffer.from(userId, 'ascii')
}

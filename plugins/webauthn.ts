/** Key pairs that devices keep for people (WebAuthn Level 3): what a browser is asked to do, and whether it did that. */
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'

import type { UserRecord } from '../db/users.ts'
import { unexpectedFailure } from '../errors.ts'
import { definePlugin } from './define-plugin.ts'
import {
  type AnswerFacts,
  type CreatedKey,
  type KnownKey,
  verifyAnswer,
  verifyCreation,
} from './webauthn/answers.ts'
import { type RelyingParty, relyingPartyOf } from './webauthn/relying-party.ts'

declare module 'fastify' {
  interface FastifyInstance {
    webauthn: Webauthn
  }
}

export type { AnswerFacts, CreatedKey, KnownKey }

export type Webauthn = ReturnType<typeof createWebauthn>

/** COSE algorithms (RFC 9053): ECDSA, RSA with both paddings, EdDSA. */
const algorithms = [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8]

/** Milliseconds for which a browser waits for the person. */
const timeout = 300_000

/** Without a relying party every function throws unexpected_failure. */
export function createWebauthn(relyingParty: RelyingParty | undefined) {
  function site(): RelyingParty {
    if (relyingParty) return relyingParty
    throw unexpectedFailure(
      'Passkeys cannot be used: the operator has to set AUTH_WEBAUTHN_RP_ID, AUTH_WEBAUTHN_RP_DISPLAY_NAME and AUTH_WEBAUTHN_RP_ORIGINS.',
    )
  }

  return {
    /** How authenticators know the person: the letters of their id. */
    userHandle: (userId: string): Buffer => Buffer.from(userId, 'ascii'),

    /** For `navigator.credentials.create()`: a passkey, unless the device has one of `known` already. */
    async passkeyCreation(
      { id, email, phone, raw_user_meta_data: metadata }: UserRecord,
      known: readonly Buffer[],
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { id: rpID, name: rpName } = site()
      const userName = email || phone || id
      const displayName = metadata?.name
      return generateRegistrationOptions({
        ...{ rpName, rpID, userName, timeout },
        userID: new Uint8Array(Buffer.from(id, 'ascii')),
        userDisplayName: typeof displayName === 'string' && displayName ? displayName : userName,
        excludeCredentials: known.map((key) => ({ id: key.toString('base64url') })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
        attestationType: 'none',
        supportedAlgorithmIDs: algorithms,
      })
    },

    /** For `navigator.credentials.get()`: any passkey for this site. */
    async passkeyRequest(): Promise<PublicKeyCredentialRequestOptionsJSON> {
      return generateAuthenticationOptions({
        rpID: site().id,
        timeout,
        userVerification: 'preferred',
      })
    },

    /** The key pair that was made for the challenge. Throws AnswerRefused. */
    verifyCreation: (answer: unknown, challenge: string): Promise<CreatedKey> =>
      verifyCreation(site(), { answer, challenge, algorithms }),

    /** What an answer says that `key` has signed. Throws AnswerRefused. */
    verifyAnswer: (answer: unknown, challenge: string, key: KnownKey): Promise<AnswerFacts> =>
      verifyAnswer(site(), { answer, challenge, key }),
  }
}

export default definePlugin({
  name: 'webauthn',
  needs: ['config'],
  create: ({ config }) => createWebauthn(relyingPartyOf(config)),
})

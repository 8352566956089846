/** Whether a security key answered its challenge (WebAuthn Level 3 §7.1 and §7.2). */
import {
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'

import type { ChallengeRecord } from '../../../db/factor-challenges.ts'
import type { FactorRecord } from '../../../db/factors.ts'
import { mfaVerificationFailed, validationFailed } from '../../../errors.ts'
import type { AuthenticationCredential, RegistrationCredential } from '../../../schemas/webauthn.ts'
import type { House } from '../../define-plugin.ts'
import { credentialId, credentialOf, type StoredCredential, toBase64 } from './credential.ts'
import { relyingParty } from './relying-party.ts'
import { algorithms, userHandle } from './webauthn-options.ts'

export type CredentialAnswer = AuthenticationCredential | RegistrationCredential

/** The factor whose key answered, what is stored of the key from now on, and whether a copy of it exists. */
export interface KeyProof {
  factor: FactorRecord
  credential: StoredCredential
  aaguid: string | null
  isCloned: boolean
}

/**
 * Judges the answer by the ceremony that was asked for, whatever the client says it did. `verified` are the
 * WebAuthn factors of the person. Throws mfa_verification_failed or validation_failed.
 */
export async function judgeKey(
  house: House<'config'>,
  factor: FactorRecord,
  challenge: ChallengeRecord,
  answer: CredentialAnswer,
  verified: readonly FactorRecord[],
): Promise<KeyProof> {
  const expectedChallenge = challenge.challenge ?? ''
  const isAsked = isRegistration(answer) === (challenge.ceremony === 'create')
  if (!isAsked || expectedChallenge === '') {
    throw validationFailed('The credential does not answer what was asked for')
  }
  const asked = { site: relyingParty(house), expectedChallenge }
  try {
    return isRegistration(answer)
      ? await judgeNew(factor, asked, answer)
      : await judgeKnown(verified, asked, answer)
  } catch {
    // The library's own words quote challenges, which are not for the log.
    throw mfaVerificationFailed('The security key could not be verified')
  }
}

interface Asked {
  site: ReturnType<typeof relyingParty>
  expectedChallenge: string
}

function isRegistration(answer: CredentialAnswer): answer is RegistrationCredential {
  return 'attestationObject' in answer.response
}

async function judgeNew(
  factor: FactorRecord,
  { site, expectedChallenge }: Asked,
  { id, rawId, type, response }: RegistrationCredential,
): Promise<KeyProof> {
  const given: RegistrationResponseJSON = { id, rawId, type, response, clientExtensionResults: {} }
  const { registrationInfo: info } = await verifyRegistrationResponse({
    response: given,
    expectedChallenge,
    expectedOrigin: site.origins,
    expectedRPID: site.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  })
  if (!info || info.credential.id !== id) throw new Error('the attestation does not hold')
  const credential: StoredCredential = {
    id: toBase64(id),
    publicKey: Buffer.from(info.credential.publicKey).toString('base64'),
    attestationType: info.fmt,
    transport: response.transports ?? null,
    flags: {
      userPresent: true,
      userVerified: info.userVerified,
      backupEligible: info.credentialDeviceType === 'multiDevice',
      backupState: info.credentialBackedUp,
    },
    authenticator: {
      AAGUID: Buffer.from(info.aaguid.replaceAll('-', ''), 'hex').toString('base64'),
      signCount: info.credential.counter,
      cloneWarning: false,
      attachment: '',
    },
  }
  return { factor, credential, aaguid: info.aaguid, isCloned: false }
}

async function judgeKnown(
  verified: readonly FactorRecord[],
  { site, expectedChallenge }: Asked,
  { id, rawId, type, response }: AuthenticationCredential,
): Promise<KeyProof> {
  const { factor, stored } = findAnswering(verified, id)
  checkUserHandle(factor, response.userHandle)
  const { clientDataJSON, authenticatorData, signature } = response
  const given = { clientDataJSON, authenticatorData, signature }
  const { verified: isRight, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: { id, rawId, type, response: given, clientExtensionResults: {} },
    expectedChallenge,
    expectedOrigin: site.origins,
    expectedRPID: site.id,
    requireUserVerification: false,
    // The counter is compared below: the library would not tell a copy from other faults.
    credential: {
      id,
      publicKey: new Uint8Array(Buffer.from(stored.publicKey, 'base64')),
      counter: 0,
    },
  })
  const isEligible = info.credentialDeviceType === 'multiDevice'
  if (!isRight || isEligible !== stored.flags.backupEligible) {
    throw new Error('the signature or the kind of the key is another one')
  }
  const { signCount } = stored.authenticator
  // A counter that stays at zero is none (§6.1.1).
  const isCloned = (signCount > 0 || info.newCounter > 0) && info.newCounter <= signCount
  const credential: StoredCredential = {
    ...stored,
    flags: {
      ...stored.flags,
      userVerified: info.userVerified,
      backupState: info.credentialBackedUp,
    },
    authenticator: {
      ...stored.authenticator,
      signCount: Math.max(signCount, info.newCounter),
      cloneWarning: isCloned,
    },
  }
  return { factor, credential, aaguid: factor.web_authn_aaguid, isCloned }
}

function findAnswering(verified: readonly FactorRecord[], id: string) {
  for (const factor of verified) {
    const stored = credentialOf(factor)
    if (stored && credentialId(stored) === id) return { factor, stored }
  }
  throw new Error('the key belongs to no factor of the person')
}

function checkUserHandle({ user_id }: FactorRecord, given: string | null | undefined): void {
  if (given && !Buffer.from(given, 'base64url').equals(userHandle(user_id))) {
    throw new Error('the key was made for another person')
  }
}

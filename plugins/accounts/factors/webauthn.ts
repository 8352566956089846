/** Whether a security key answered its challenge (WebAuthn Level 3 §7.1 and §7.2). */
import type { ChallengeRecord } from '../../../db/factor-challenges.ts'
import type { FactorRecord } from '../../../db/factors.ts'
import { mfaVerificationFailed, validationFailed } from '../../../errors.ts'
import type { AuthenticationCredential, RegistrationCredential } from '../../../schemas/webauthn.ts'
import type { House } from '../../define-plugin.ts'
import { credentialId, credentialOf, type StoredCredential } from './credential.ts'

export type CredentialAnswer = AuthenticationCredential | RegistrationCredential

/** The factor whose key answered, and what is stored of the key from now on. */
export interface KeyProof {
  factor: FactorRecord
  credential: StoredCredential
  aaguid: string | null
  /** It was made for this challenge. */
  isNew: boolean
  /** A copy of it exists. */
  isCloned: boolean
}

/**
 * Judges the answer by the ceremony that was asked for, whatever the client says it did. `verified` are the
 * WebAuthn factors of the person. Throws mfa_verification_failed or validation_failed.
 */
export async function judgeKey(
  house: House<'webauthn'>,
  factor: FactorRecord,
  challenge: ChallengeRecord,
  answer: CredentialAnswer,
  verified: readonly FactorRecord[],
): Promise<KeyProof> {
  const expectedChallenge = challenge.challenge ?? ''
  // GoTrue does not write down the ceremony: it goes by the state of the factor.
  const ceremony = challenge.ceremony ?? (factor.status === 'verified' ? 'request' : 'create')
  const isAsked = isRegistration(answer) === (ceremony === 'create')
  if (!isAsked || expectedChallenge === '') {
    throw validationFailed('The credential does not answer what was asked for')
  }
  try {
    return isRegistration(answer)
      ? await judgeNew(house, factor, expectedChallenge, answer)
      : await judgeKnown(house, verified, expectedChallenge, answer)
  } catch {
    // The library's own words quote challenges, which are not for the log.
    throw mfaVerificationFailed('The security key could not be verified')
  }
}

function isRegistration(answer: CredentialAnswer): answer is RegistrationCredential {
  return 'attestationObject' in answer.response
}

async function judgeNew(
  { webauthn }: House<'webauthn'>,
  factor: FactorRecord,
  challenge: string,
  answer: RegistrationCredential,
): Promise<KeyProof> {
  const made = await webauthn.verifyCreation(answer, challenge)
  const credential: StoredCredential = {
    id: made.id.toString('base64'),
    publicKey: made.publicKey.toString('base64'),
    attestationType: made.attestation,
    transport: answer.response.transports ?? null,
    flags: {
      userPresent: true,
      userVerified: made.userVerified,
      backupEligible: made.backupEligible,
      backupState: made.backedUp,
    },
    authenticator: {
      AAGUID: Buffer.from(made.aaguid.replaceAll('-', ''), 'hex').toString('base64'),
      signCount: made.counter,
      cloneWarning: false,
      attachment: '',
    },
  }
  return { factor, credential, aaguid: made.aaguid, isNew: true, isCloned: false }
}

async function judgeKnown(
  { webauthn }: House<'webauthn'>,
  verified: readonly FactorRecord[],
  challenge: string,
  answer: AuthenticationCredential,
): Promise<KeyProof> {
  const { factor, stored } = findAnswering(verified, answer.id)
  const handle = answer.response.userHandle
  if (handle && !Buffer.from(handle, 'base64url').equals(webauthn.userHandle(factor.user_id))) {
    throw new Error('the key was made for another person')
  }
  const said = await webauthn.verifyAnswer(answer, challenge, {
    id: Buffer.from(stored.id, 'base64'),
    publicKey: Buffer.from(stored.publicKey, 'base64'),
    backupEligible: stored.flags.backupEligible,
  })
  const { signCount } = stored.authenticator
  // A counter that stays at zero is none (§6.1.1).
  const isCloned = (signCount > 0 || said.counter > 0) && said.counter <= signCount
  const credential: StoredCredential = {
    ...stored,
    flags: { ...stored.flags, userVerified: said.userVerified, backupState: said.backedUp },
    authenticator: {
      ...stored.authenticator,
      signCount: Math.max(signCount, said.counter),
      cloneWarning: isCloned,
    },
  }
  return { factor, credential, aaguid: factor.web_authn_aaguid, isNew: false, isCloned }
}

function findAnswering(verified: readonly FactorRecord[], id: string) {
  for (const factor of verified) {
    const stored = credentialOf(factor)
    if (stored && credentialId(stored) === id) return { factor, stored }
  }
  throw new Error('the key belongs to no factor of the person')
}

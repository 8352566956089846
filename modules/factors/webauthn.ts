/** Verifies the response of a security key (WebAuthn Level 3 §7.1 and §7.2). */
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { FastifyInstance } from 'fastify'

import type { ChallengeRecord } from '../../db/factors/challenges.ts'
import type { FactorRecord } from '../../db/factors/factors.ts'
import { mfaVerificationFailedError, validationFailed } from '../../schemas/errors.ts'
import type { AuthenticationCredential, RegistrationCredential } from '../../schemas/webauthn.ts'

export type CredentialResponse = AuthenticationCredential | RegistrationCredential

/** The factor of the credential, and its new stored state. */
export interface WebAuthnAssertionResult {
  factor: FactorRecord
  credential: StoredCredential
  aaguid: string | null
  /** The credential was created by this challenge. */
  isNew: boolean
  /** The authenticator was cloned. */
  isCloned: boolean
}

/**
 * Verifies the response by the requested ceremony, whatever the client claims. `verified` are the WebAuthn factors of
 * the user. Throws mfa_verification_failed or validation_failed.
 */
export async function verifyWebAuthnResponse(
  app: FastifyInstance,
  factor: FactorRecord,
  challenge: ChallengeRecord,
  response: CredentialResponse,
  verified: readonly FactorRecord[],
): Promise<WebAuthnAssertionResult> {
  const expectedChallenge = challenge.challenge ?? ''
  // GoTrue does not store the ceremony: the state of the factor decides.
  const ceremony = challenge.ceremony ?? (factor.status === 'verified' ? 'request' : 'create')
  const matchesCeremony = isRegistration(response) === (ceremony === 'create')
  if (!matchesCeremony || expectedChallenge === '') {
    throw validationFailed('The credential is not a response to this challenge')
  }
  try {
    return isRegistration(response)
      ? await verifyRegistration(app, factor, expectedChallenge, response)
      : await verifyAssertion(app, verified, expectedChallenge, response)
  } catch {
    // The library's messages quote challenges, which must not be logged.
    throw mfaVerificationFailedError('The security key could not be verified')
  }
}

function isRegistration(response: CredentialResponse): response is RegistrationCredential {
  return 'attestationObject' in response.response
}

async function verifyRegistration(
  { passkeys: { ceremonies } }: FastifyInstance,
  factor: FactorRecord,
  challenge: string,
  response: RegistrationCredential,
): Promise<WebAuthnAssertionResult> {
  const made = await ceremonies.verifyAttestation(response, challenge)
  const credential: StoredCredential = {
    id: made.id.toString('base64'),
    publicKey: made.publicKey.toString('base64'),
    attestationType: made.attestation,
    transport: response.response.transports ?? null,
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

async function verifyAssertion(
  { passkeys: { ceremonies } }: FastifyInstance,
  verified: readonly FactorRecord[],
  challenge: string,
  response: AuthenticationCredential,
): Promise<WebAuthnAssertionResult> {
  const { factor, stored } = findStoredCredential(verified, response.id)
  const handle = response.response.userHandle
  if (handle && !Buffer.from(handle, 'base64url').equals(ceremonies.userHandle(factor.user_id))) {
    throw new Error('the credential was created for another user')
  }
  const authenticatorData = await ceremonies.verifyAssertion(response, challenge, {
    id: Buffer.from(stored.id, 'base64'),
    publicKey: Buffer.from(stored.publicKey, 'base64'),
    backupEligible: stored.flags.backupEligible,
  })
  const { signCount } = stored.authenticator
  // A counter that stays zero is unsupported (§6.1.1).
  const isCloned =
    (signCount > 0 || authenticatorData.counter > 0) && authenticatorData.counter <= signCount
  const credential: StoredCredential = {
    ...stored,
    flags: {
      ...stored.flags,
      userVerified: authenticatorData.userVerified,
      backupState: authenticatorData.backedUp,
    },
    authenticator: {
      ...stored.authenticator,
      signCount: Math.max(signCount, authenticatorData.counter),
      cloneWarning: isCloned,
    },
  }
  return { factor, credential, aaguid: factor.web_authn_aaguid, isNew: false, isCloned }
}

function findStoredCredential(verified: readonly FactorRecord[], id: string) {
  for (const factor of verified) {
    const stored = getFactorCredential(factor)
    if (stored && credentialId(stored) === id) return { factor, stored }
  }
  throw new Error('the credential belongs to no factor of the user')
}

/** The WebAuthn credential of a factor, in GoTrue's JSON; bytes are base64. */
const StoredCredential = Type.Object({
  id: Type.String(),
  publicKey: Type.String(),
  attestationType: Type.Optional(Type.String()),
  transport: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
  flags: Type.Object({
    userPresent: Type.Boolean(),
    userVerified: Type.Boolean(),
    backupEligible: Type.Boolean(),
    backupState: Type.Boolean(),
  }),
  authenticator: Type.Object({
    AAGUID: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    signCount: Type.Integer(),
    cloneWarning: Type.Boolean(),
    attachment: Type.Optional(Type.String()),
  }),
})
type StoredCredential = Static<typeof StoredCredential>

const check = TypeCompiler.Compile(StoredCredential)

/** Undefined for a factor without one. */
export function getFactorCredential(factor: FactorRecord): StoredCredential | undefined {
  const stored: unknown = factor.web_authn_credential
  return check.Check(stored) ? stored : undefined
}

/** The credential id in base64url. */
export function credentialId({ id }: StoredCredential): string {
  return Buffer.from(id, 'base64').toString('base64url')
}

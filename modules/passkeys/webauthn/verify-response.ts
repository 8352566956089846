/** Verifies WebAuthn responses (WebAuthn Level 3 §7.1 and §7.2). */
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

import { loadLibrary, type RelyingParty } from './relying-party.ts'

/** A rejected credential. The message is for the log and contains neither challenge nor key. */
class CredentialRejectedError extends Error {
  override name = 'CredentialRejectedError'
}

/**
 * Converts an error of the library, which quotes its input. An origin is kept: it is no secret, and operators need to
 * find one that is missing in AUTH_WEBAUTHN_RP_ORIGINS.
 */
function rejectionReason(thrown: unknown): CredentialRejectedError {
  const message = thrown instanceof Error ? thrown.message : ''
  const isOrigin = /^Unexpected (registration|authentication) response origin "/.test(message)
  return new CredentialRejectedError(isOrigin ? message : (message.split('"')[0] ?? ''))
}

/** A new credential. */
export interface RegisteredCredential {
  id: Buffer
  /** A COSE key (RFC 9052 §7). */
  publicKey: Buffer
  attestation: string
  aaguid: string
  counter: number
  transports: string[]
  backupEligible: boolean
  backedUp: boolean
  userVerified: boolean
}

/** The stored data of a credential. */
export interface KnownCredential {
  id: Buffer
  publicKey: Buffer
  backupEligible: boolean
}

/** The signed authenticator data. */
export interface AuthenticatorData {
  counter: number
  backedUp: boolean
  /** User verification by fingerprint, face or PIN. */
  userVerified: boolean
}

const Bytes = Type.String({ pattern: '^[A-Za-z0-9_-]+$' })
const common = { id: Bytes, rawId: Bytes, type: Type.Literal('public-key') }

const registrations = TypeCompiler.Compile(
  Type.Object({
    ...common,
    response: Type.Object({
      clientDataJSON: Bytes,
      attestationObject: Bytes,
      transports: Type.Optional(
        Type.Union([Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 }), Type.Null()]),
      ),
    }),
  }),
)
const authentications = TypeCompiler.Compile(
  Type.Object({
    ...common,
    response: Type.Object({ clientDataJSON: Bytes, authenticatorData: Bytes, signature: Bytes }),
  }),
)

/** In bytes (WebAuthn Level 3 §7.1); the index allows no much longer ids. */
const maxIdLength = 1023

interface Creation {
  credential: unknown
  challenge: string
  algorithms: number[]
}

/** Attestation `none`: the authenticator is not identified. Throws CredentialRejectedError. */
export async function verifyAttestation(
  { id: expectedRPID, origins }: RelyingParty,
  { credential, challenge, algorithms }: Creation,
): Promise<RegisteredCredential> {
  if (!registrations.Check(credential)) {
    throw new CredentialRejectedError('it is not a registration')
  }
  const { id, rawId, type } = credential
  const { clientDataJSON, attestationObject, transports } = credential.response
  const response = { clientDataJSON, attestationObject }
  const { verifyRegistrationResponse } = await loadLibrary()
  const { registrationInfo: info } = await verifyRegistrationResponse({
    response: { id, rawId, type, response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  }).catch((error) => {
    throw rejectionReason(error)
  })
  if (info?.credential.id !== id) throw new CredentialRejectedError('its attestation is invalid')
  const idBytes = Buffer.from(id, 'base64url')
  if (idBytes.length > maxIdLength) throw new CredentialRejectedError('its id is too long')
  return {
    id: idBytes,
    publicKey: Buffer.from(info.credential.publicKey),
    attestation: info.fmt,
    aaguid: info.aaguid,
    counter: info.credential.counter,
    transports: transports ?? [],
    backupEligible: info.credentialDeviceType === 'multiDevice',
    backedUp: info.credentialBackedUp,
    userVerified: info.userVerified,
  }
}

interface SignedResponse {
  credential: unknown
  challenge: string
  key: KnownCredential
}

/** The caller compares the counter, to distinguish a clone from other errors. Throws CredentialRejectedError. */
export async function verifyWebauthnAssertion(
  { id: expectedRPID, origins }: RelyingParty,
  { credential, challenge, key }: SignedResponse,
): Promise<AuthenticatorData> {
  if (!authentications.Check(credential)) {
    throw new CredentialRejectedError('it is not an authentication')
  }
  const { id, rawId, type, response } = credential
  const { clientDataJSON, authenticatorData, signature } = response
  const { verifyAuthenticationResponse } = await loadLibrary()
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId,
      type,
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature },
    },
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID,
    requireUserVerification: false,
    credential: {
      id: key.id.toString('base64url'),
      publicKey: new Uint8Array(key.publicKey),
      counter: 0,
    },
  }).catch((error) => {
    throw rejectionReason(error)
  })
  if (!verified) throw new CredentialRejectedError('its signature is wrong')
  if ((info.credentialDeviceType === 'multiDevice') !== key.backupEligible) {
    throw new CredentialRejectedError(
      'the authenticator changed whether its credential can be backed up',
    )
  }
  const { newCounter: counter, credentialBackedUp: backedUp, userVerified } = info
  return { counter, backedUp, userVerified }
}

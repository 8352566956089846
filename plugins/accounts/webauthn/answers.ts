/** Judging what a client answered to a ceremony (WebAuthn Level 3 §7.1 and §7.2). */
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

import { loadLibrary } from './library.ts'
import { AnswerRefused, refusedBecause } from './refusal.ts'
import type { RelyingParty } from './relying-party.ts'

/** A key pair that was just made. */
export interface CreatedKey {
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

/** What is known of a key pair that answers. */
export interface KnownKey {
  id: Buffer
  publicKey: Buffer
  backupEligible: boolean
}

/** What an authenticator says together with its signature. */
export interface AnswerFacts {
  counter: number
  backedUp: boolean
  /** The device knows that it was the person: by fingerprint, face or PIN. */
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

/** In bytes (WebAuthn Level 3 §7.1); the index of passkeys holds no id that is much longer. */
const longestId = 1023

interface Creation {
  answer: unknown
  challenge: string
  algorithms: number[]
}

/** Whoever made the key pair is not asked for (attestation none). Throws AnswerRefused. */
export async function verifyCreation(
  { id: expectedRPID, origins }: RelyingParty,
  { answer, challenge, algorithms }: Creation,
): Promise<CreatedKey> {
  if (!registrations.Check(answer)) throw new AnswerRefused('it is no registration')
  const { id, rawId, type } = answer
  const { clientDataJSON, attestationObject, transports } = answer.response
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
    throw refusedBecause(error)
  })
  if (info?.credential.id !== id) throw new AnswerRefused('its attestation does not hold')
  const idBytes = Buffer.from(id, 'base64url')
  if (idBytes.length > longestId) throw new AnswerRefused('its id is too long')
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

interface Answered {
  answer: unknown
  challenge: string
  key: KnownKey
}

/** The counter is for the caller to compare: a copied key is told from other faults. Throws AnswerRefused. */
export async function verifyAnswer(
  { id: expectedRPID, origins }: RelyingParty,
  { answer, challenge, key }: Answered,
): Promise<AnswerFacts> {
  if (!authentications.Check(answer)) throw new AnswerRefused('it is no authentication')
  const { id, rawId, type, response } = answer
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
    throw refusedBecause(error)
  })
  if (!verified) throw new AnswerRefused('its signature is wrong')
  if ((info.credentialDeviceType === 'multiDevice') !== key.backupEligible) {
    throw new AnswerRefused('the key says it is of another kind than when it was made')
  }
  const { newCounter: counter, credentialBackedUp: backedUp, userVerified } = info
  return { counter, backedUp, userVerified }
}

import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from './errors.ts'
import { isUuid } from './fields.ts'
import { Timestamp, toTimestamp } from './values/timestamp.ts'

export const Passkey = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    friendly_name: Type.Optional(Type.String()),
    created_at: Timestamp,
    last_used_at: Type.Optional(Timestamp),
  },
  { title: 'Passkey' },
)
export type Passkey = Static<typeof Passkey>

export const Passkeys = Type.Array(Passkey)

/** The route validates the id, because an invalid one is a 404. */
export const PasskeyPath = Type.Object({ passkey_id: Type.String() })

interface PasskeySource {
  id: string
  friendly_name: string
  created_at: Date
  last_used_at: Date | null
}

export function toPasskey(row: PasskeySource): Passkey {
  return {
    id: row.id,
    ...(row.friendly_name && { friendly_name: row.friendly_name }),
    created_at: toTimestamp(row.created_at),
    ...(row.last_used_at && { last_used_at: toTimestamp(row.last_used_at) }),
  }
}

export const Question = Type.Object(
  {
    challenge_id: Type.String({ format: 'uuid' }),
    options: Type.Record(Type.String(), Type.Unknown(), {
      description: 'publicKey of navigator.credentials.create() or get(), as JSON',
    }),
    expires_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
  },
  { title: 'PasskeyChallenge' },
)

export const PasskeyResponseBody = Type.Object({
  challenge_id: Type.Optional(Type.String()),
  credential: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'toJSON() of the credential (WebAuthn Level 3 §5.1)',
    }),
  ),
})

/** Throws validation_failed unless both fields are present. */
export function readPasskeyResponse({
  challenge_id,
  credential,
}: Static<typeof PasskeyResponseBody>) {
  if (!challenge_id || !isUuid(challenge_id)) throw validationFailed('challenge_id must be an UUID')
  if (!credential) throw validationFailed('credential is required')
  return { challengeId: challenge_id, credential }
}

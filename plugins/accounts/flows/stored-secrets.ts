/** What waits, encrypted, in the row of an OAuth flow until the callback. */
import { type Static, Type } from '@sinclair/typebox'

import { readStored } from '../../../schemas/stored.ts'
import type { House } from '../../define-plugin.ts'

/** Those of the provider's protocol, the invitation that is to be accepted, and which browser may end the sign-in. */
const StoredSecrets = Type.Object({
  v: Type.Literal(1),
  codeVerifier: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  requestToken: Type.Optional(Type.String()),
  requestTokenSecret: Type.Optional(Type.String()),
  inviteToken: Type.Optional(Type.String()),
  browserHash: Type.Optional(Type.String()),
})

export type OauthSecrets = Omit<Static<typeof StoredSecrets>, 'v'>

export function sealSecrets(
  { encryption }: House<'encryption'>,
  flowId: string,
  secrets: OauthSecrets,
): string {
  const stored: Static<typeof StoredSecrets> = { v: 1, ...secrets }
  return encryption.encrypt(flowId, JSON.stringify(stored))
}

/** Throws DecryptionError when its key is not configured, and StoredFormError. */
export function openSecrets(
  { encryption }: House<'encryption'>,
  flowId: string,
  sealed: string | null,
): OauthSecrets {
  if (!sealed) return {}
  const what = 'An external sign-in'
  const parsed: unknown = JSON.parse(encryption.decrypt(flowId, sealed, what))
  const { v: _, ...secrets } = readStored(StoredSecrets, parsed, what)
  return secrets
}

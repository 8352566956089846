/** The encrypted data of an OAuth flow until its callback. */
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { readStored } from '../../schemas/values/stored.ts'

/** Secrets of the provider's protocol, the invitation, and the browser binding. */
const StoredSecrets = Type.Object({
  v: Type.Literal(1),
  codeVerifier: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  requestToken: Type.Optional(Type.String()),
  requestTokenSecret: Type.Optional(Type.String()),
  inviteToken: Type.Optional(Type.String()),
  browserHash: Type.Optional(Type.String()),
})

type OauthSecrets = Omit<Static<typeof StoredSecrets>, 'v'>

export function encryptFlowSecrets(
  { encryption }: FastifyInstance,
  flowId: string,
  secrets: OauthSecrets,
): string {
  const stored: Static<typeof StoredSecrets> = { v: 1, ...secrets }
  return encryption.encrypt(flowId, JSON.stringify(stored))
}

/** Throws DecryptionError when its key is not configured, and StoredFormError. */
export function decryptFlowSecrets(
  { encryption }: FastifyInstance,
  flowId: string,
  encrypted: string | null,
): OauthSecrets {
  if (!encrypted) return {}
  const what = 'An external sign-in'
  const parsed: unknown = JSON.parse(encryption.decrypt(flowId, encrypted, what))
  const { v: _, ...secrets } = readStored(StoredSecrets, parsed, what)
  return secrets
}

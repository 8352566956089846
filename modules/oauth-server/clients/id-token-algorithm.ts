/** Signing algorithms of ID tokens. */
import type { FastifyInstance } from 'fastify'

import { invalidClientMetadata } from '../../../schemas/errors.ts'

/** The algorithms that ID tokens are signed with now, as discovery lists them. */
export function idTokenAlgorithms({ jwt }: FastifyInstance, now: Date): string[] {
  const { idTokenSigning } = jwt.keys.ring
  return idTokenSigning ? [idTokenSigning.alg] : jwt.keys.ring.algorithms(now)
}

/**
 * The server signs with one algorithm: a client that registers another could not verify its ID tokens. Throws
 * invalid_client_metadata (RFC 7591 §3.2.2).
 */
export function requireIdTokenAlgorithm(
  app: FastifyInstance,
  { id_token_signed_response_alg: requested }: { id_token_signed_response_alg?: string },
  now: Date,
): void {
  const supported = idTokenAlgorithms(app, now)
  if (requested === undefined || supported.includes(requested)) return
  throw invalidClientMetadata(
    'invalid_client_metadata',
    `id_token_signed_response_alg must be ${supported.join(' or ')}`,
  )
}

/** The user who is signed in at the pages, as the one who answers an authorization request. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { type Answering, toStoredAuthentication } from '../oauth-server/index.ts'
import { findRequiredFactor, type SignedIn } from '../page-session/index.ts'

export function toAnswering(
  app: FastifyInstance,
  signedIn: SignedIn,
  { clientIp }: Pick<FastifyRequest, 'clientIp'>,
  now: Date,
): Answering {
  const { session } = signedIn
  const signIn = toStoredAuthentication({ user: session, session, claims: {} }, now)
  const requiresFactor = findRequiredFactor(app, signedIn) !== undefined
  return { user: session, signIn, requiresFactor, ip: clientIp }
}

import type { FastifyRequest } from 'fastify'

import type { Session } from '../../../schemas/session.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'

/** A grant type of POST /token. */
export type GrantHandler = (
  body: TokenRequest,
  request: FastifyRequest,
  now: Date,
) => Promise<Session>

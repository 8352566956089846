import type { FastifyRequest } from 'fastify'

import type { Session } from '../../../schemas/session.ts'
import type { TokenRequest } from '../../../schemas/token-request.ts'

/** One grant type of POST /token: what it is given, and the session it ends in. */
export type Grant = (body: TokenRequest, request: FastifyRequest, now: Date) => Promise<Session>

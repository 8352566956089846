/** Throttles factor codes; recovery codes have a separate lock. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { throttleAttempt } from '../otp/index.ts'

/** Throws over_request_rate_limit while the user is blocked; otherwise the attempt is counted until it succeeds. */
export function throttleFactorAttempt(app: FastifyInstance, db: Db, userId: string, now: Date) {
  return throttleAttempt(app, db, { kind: 'factor', account: userId }, now)
}

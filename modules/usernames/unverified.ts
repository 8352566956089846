/**
 * Names of users whose address is not verified: a sign-up takes any address, so one client could hold every name.
 * They are counted for each network, and removed at the first verification of the address, whose holder may be another
 * user.
 */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { lockName } from '../../db/core/locks.ts'
import { countUnverifiedUsernames } from '../../db/usernames/usernames.ts'
import { tooManyUnverifiedUsernames } from '../../schemas/errors.ts'

/** How long such a name counts. */
export const unverifiedMs = 86_400_000

/**
 * Returns what is stored as the network of the name. The network stays locked until the transaction ends, so that
 * concurrent requests cannot exceed the limit. Throws over_request_rate_limit.
 */
export async function countName(
  { config, usernames: { networkKey } }: FastifyInstance,
  trx: Trx,
  network: string,
  now: Date,
): Promise<string> {
  const hash = createHmac('sha256', networkKey).update(network).digest('base64url')
  const limit = config.AUTH_USERNAMES_MAX_UNVERIFIED
  if (limit === 0) return hash
  await lockName(trx, `usernames of ${hash}`)
  const since = new Date(now.getTime() - unverifiedMs)
  const { count, oldest } = await countUnverifiedUsernames(trx, hash, since)
  if (Number(count) < limit || !oldest) return hash
  const wait = oldest.getTime() + unverifiedMs - now.getTime()
  throw tooManyUnverifiedUsernames(Math.max(1, Math.ceil(wait / 1000)))
}

import type { FastifyInstance } from 'fastify'

import { passkeyDisabled } from '../../schemas/errors.ts'

/** An onRequest hook. Throws passkey_disabled. */
export async function requirePasskeysEnabled({ config }: FastifyInstance): Promise<void> {
  if (!config.AUTH_PASSKEY_ENABLED) throw passkeyDisabled()
}

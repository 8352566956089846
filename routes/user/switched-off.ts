import type { FastifyPluginAsync } from 'fastify'

import { oauthServerDisabled } from '../../errors.ts'

/** What a person let the clients of an OAuth server do, where none is offered. */
const switchedOff: FastifyPluginAsync = async (fastify) => {
  const config = { isOpenWithoutFactor: true, themselves: false }
  fastify.all('/user/oauth/grants', { config, schema: { hide: true } }, async () => {
    throw oauthServerDisabled()
  })
}

export default switchedOff

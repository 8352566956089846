import type { FastifyPluginAsync } from 'fastify'

import { oauthServerDisabled } from '../../errors.ts'

/** What a person let the clients of an OAuth server do, where none is offered. */
const switchedOff: FastifyPluginAsync = async (fastify) => {
  fastify.all(
    '/user/oauth/grants',
    { config: { isOpenWithoutFactor: true, themselves: false }, schema: { hide: true } },
    async () => {
      throw oauthServerDisabled()
    },
  )
}

export default switchedOff

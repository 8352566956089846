import type { FastifyPluginAsync } from 'fastify'

import { featureDisabled } from '../../errors.ts'

/** Clients of an OAuth server that is not offered. */
const oauth: FastifyPluginAsync = async (fastify) => {
  fastify.all('/admin/oauth/*', { schema: { hide: true } }, async () => {
    throw featureDisabled('The OAuth server is disabled')
  })
}

export default oauth

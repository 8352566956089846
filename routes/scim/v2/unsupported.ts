import type { FastifyPluginAsync } from 'fastify'

import { scimRejected } from '../../../schemas/errors.ts'

/** ServiceProviderConfig declares them as unsupported. */
const unsupported: FastifyPluginAsync = async (fastify) => {
  for (const name of ['Bulk', 'Me']) {
    fastify.all(`/:connection/${name}`, { schema: { hide: true } }, async () => {
      throw scimRejected(501, undefined, `${name} is not supported`)
    })
  }
}

export default unsupported

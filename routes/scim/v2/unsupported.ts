import type { FastifyPluginAsync } from 'fastify'

import { scimRejected } from '../../../schemas/errors.ts'

/** ServiceProviderConfig declares them as unsupported. */
const unsupported: FastifyPluginAsync = async (app) => {
  for (const name of ['Bulk', 'Me']) {
    app.all(`/:connection/${name}`, { schema: { hide: true } }, async () => {
      throw scimRejected(501, undefined, `${name} is not supported`)
    })
  }
}

export default unsupported

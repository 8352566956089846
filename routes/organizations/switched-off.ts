/** The paths of organizations while they are disabled: rejected with an error code for that. */
import type { FastifyPluginAsync } from 'fastify'

import { organizationsDisabled } from '../../schemas/errors.ts'

const paths = [
  '/organizations',
  '/organizations/*',
  '/user/sessions/current',
  '/admin/organizations',
  '/admin/organizations/*',
  '/admin/organization-roles',
  '/admin/organization-roles/*',
]

const switchedOff: FastifyPluginAsync = async (fastify) => {
  for (const path of paths) {
    fastify.all(path, { schema: { hide: true } }, async () => {
      throw organizationsDisabled()
    })
  }
}

export default switchedOff

/** The paths of organizations while they are off: rejected with a code that says so. */
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

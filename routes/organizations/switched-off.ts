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

const open = { minimumRole: 'none', organizationPermission: 'none' } as const

const switchedOff: FastifyPluginAsync = async (app) => {
  for (const path of paths) {
    app.all(path, { config: open, schema: { hide: true } }, async () => {
      throw organizationsDisabled()
    })
  }
}

export default switchedOff

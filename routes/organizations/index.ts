/** Routes of organizations, loaded when they are enabled. */
import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'

import { requireAccessProof } from '../../modules/access/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { organizationsDisabled } from '../../schemas/errors.ts'

const organizations: FastifyPluginAsync = async (app) => {
  if (!app.config.AUTH_ORGANIZATIONS_ENABLED) return registerRoutes(app, { switchedOff })
  const { adminRoutes, adminScopedRoutes, ownRoutes, scopedRoutes } = await import('./routes.ts')

  const members: FastifyPluginAsync = async (group) => {
    guardUsers(group)
    await registerRoutes(group, ownRoutes)
  }
  const ofMembers: FastifyPluginAsync = async (group) => {
    guardUsers(group)
    group.addHook('preParsing', app.bearerAuth.requireOrganization)
    await registerRoutes(group, scopedRoutes)
  }
  const admins: FastifyPluginAsync = async (group) => {
    guardAdmins(group)
    await registerRoutes(group, adminRoutes)
  }
  const ofAdmins: FastifyPluginAsync = async (group) => {
    guardAdmins(group)
    group.addHook('preParsing', app.bearerAuth.requireOrganization)
    await registerRoutes(group, { ...scopedRoutes, ...adminScopedRoutes })
  }
  await registerRoutes(app, { members, admins })
  await app.register(ofMembers, { prefix: '/organizations/:organization_id' })
  await app.register(ofAdmins, { prefix: '/admin/organizations/:organization_id' })
}

function guardUsers(group: FastifyInstance): void {
  const { bearerAuth, openapi } = group
  group.addHook('preParsing', bearerAuth.requireUser)
  group.addHook('preParsing', bearerAuth.requireFactor)
  group.addHook('preHandler', requireAccessProof(group))
  group.addHook('onRoute', openapi.needsBearer)
  group.addHook('onRoute', tagged('organizations'))
}

function guardAdmins(group: FastifyInstance): void {
  const { bearerAuth, openapi } = group
  group.addHook('onRequest', bearerAuth.requireAdmin)
  group.addHook('preHandler', requireAccessProof(group))
  group.addHook('onRoute', openapi.needsBearer)
  group.addHook('onRoute', tagged('admin'))
}

const tagged = (tag: string) => (route: RouteOptions) => {
  route.schema = { ...route.schema, tags: [tag] }
}

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

/** The paths while organizations are disabled: rejected with an error code for that. */
const switchedOff: FastifyPluginAsync = async (app) => {
  for (const path of paths) {
    app.all(path, { config: open, schema: { hide: true } }, async () => {
      throw organizationsDisabled()
    })
  }
}

export default organizations

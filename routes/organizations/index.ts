/** Routes of organizations, loaded when they are enabled. */
import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'

import { requireAccessProof } from '../../modules/access/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import switchedOff from './switched-off.ts'

const organizations: FastifyPluginAsync = async (app) => {
  if (!app.config.AUTH_ORGANIZATIONS_ENABLED) return registerRoutes(app, { switchedOff })
  const { own, admin, scoped } = await loadRoutes()

  const members: FastifyPluginAsync = async (group) => {
    guardUsers(group)
    await registerRoutes(group, own.ownRoutes)
  }
  const ofMembers: FastifyPluginAsync = async (group) => {
    guardUsers(group)
    group.addHook('preParsing', app.bearerAuth.requireOrganization)
    await registerRoutes(group, scoped.scopedRoutes)
  }
  const admins: FastifyPluginAsync = async (group) => {
    guardAdmins(group)
    await registerRoutes(group, admin.organizationAdminRoutes)
  }
  const ofAdmins: FastifyPluginAsync = async (group) => {
    guardAdmins(group)
    group.addHook('preParsing', app.bearerAuth.requireOrganization)
    await registerRoutes(group, { ...scoped.scopedRoutes, ...admin.adminScopedRoutes })
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

async function loadRoutes() {
  const [own, scoped, admin] = await Promise.all([
    import('./own/index.ts'),
    import('./scoped/index.ts'),
    import('./admin/index.ts'),
  ])
  return { own, scoped, admin }
}

export default organizations

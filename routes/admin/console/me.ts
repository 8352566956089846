import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findAdminUser } from '../../../modules/audit/index.ts'
import { ConsoleUser, toConsoleUser } from '../../../schemas/console/admin.ts'
import { AdminRole } from '../../../schemas/console/admin-role.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { nullable } from '../../../schemas/values/choices.ts'
import { version } from '../../../version.ts'

const Me = Type.Object({
  role: AdminRole,
  user: nullable(ConsoleUser),
  allowed: Type.Array(Type.String(), {
    description: 'The endpoints that this role may call, such as `GET /admin/users/{user_id}`',
  }),
  custom_providers: Type.Boolean(),
  events: Type.Boolean(),
  impersonation: Type.Boolean(),
  oauth_server: Type.Boolean(),
  organizations: Type.Boolean(),
  saml: Type.Boolean(),
  version: Type.String(),
})

const me: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db, events } = app

  app.get(
    '/admin/me',
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'Get the current admin and their permissions',
        description: 'Service tokens have no user and the permissions of an owner.',
        tags: ['admin'],
        response: { 200: Me, ...ErrorResponses },
      },
    },
    async ({ admin, adminRole }) => {
      const role = adminRole ?? 'support'
      const user = await findAdminUser(db, admin)
      return {
        role,
        user: user ? toConsoleUser(user) : null,
        allowed: bearerAuth.listEndpoints(role),
        custom_providers: config.AUTH_CUSTOM_OAUTH_ENABLED,
        events: events.enabled,
        impersonation: config.AUTH_ADMIN_IMPERSONATION_ENABLED,
        oauth_server: config.AUTH_OAUTH_SERVER_ENABLED,
        organizations: config.AUTH_ORGANIZATIONS_ENABLED,
        saml: config.AUTH_SAML_ENABLED,
        version,
      }
    },
  )
}

export default me

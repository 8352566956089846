import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findUser } from '../../../db/users/users.ts'
import { subjectUserId } from '../../../schemas/access-token.ts'
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

const me: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, config, db, events } = fastify

  fastify.get(
    '/admin/me',
    {
      schema: {
        summary: 'Get the current admin and their permissions',
        description: 'Service tokens have no user and the permissions of an owner.',
        tags: ['admin'],
        response: { 200: Me, ...ErrorResponses },
      },
    },
    async ({ admin, adminRole }) => {
      const role = adminRole ?? 'support'
      const id = admin ? subjectUserId(admin) : undefined
      const user = id ? await findUser(db, id) : undefined
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

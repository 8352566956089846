/** Sessions of the current user, and the ways to sign out. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAudit } from '../../modules/audit/index.ts'
import { redirectTarget, startLogout } from '../../modules/saml/index.ts'
import { listSessions, revokeAllSessions, revokeSession } from '../../modules/sessions/index.ts'
import { Devices, toDevice } from '../../schemas/device.ts'
import { choices } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { noSuchSession, samlProviderDisabled, validationFailed } from '../../schemas/errors.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const SessionPath = Type.Object({ id: Type.String({ format: 'uuid' }) })

const sessions: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    '/sessions',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the sessions of the current user, last used first',
        tags: ['user'],
        response: { 200: Devices, ...ErrorResponses },
      },
    },
    async (request) => {
      const { user, session: current } = bearerAuth.getAuth(request)
      const live = await listSessions(app, db, user.id, new Date())
      return { sessions: live.map((session) => toDevice(session, current?.session_id)) }
    },
  )

  app.delete(
    '/sessions/:id',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'Revoke a session of the current user',
        tags: ['user'],
        params: SessionPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user } = bearerAuth.getAuth(request)
      const { params, clientIp } = request
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const isDeleted = await revokeSession(app, trx, user.id, params.id, now)
        if (!isDeleted) throw noSuchSession()
        const traits = { session_id: params.id }
        await recordAudit(audit, trx, 'logout', user, { ip: clientIp, now, traits })
      })
      return reply.status(204).send(null)
    },
  )
}

const Query = Type.Object({
  scope: Type.Optional(Type.String({ default: 'global', ...choices('global', 'local', 'others') })),
})

const logout: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.post(
    '/logout',
    {
      config: { isOpenWithoutFactor: true, rejectsImpersonation: false },
      schema: {
        summary: 'Sign out: revoke this session, the others, or all',
        tags: ['user'],
        querystring: Query,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user, session } = bearerAuth.getAuth(request)
      const scope = request.query.scope || 'global'
      if (!['global', 'local', 'others'].includes(scope)) {
        throw validationFailed(`Unsupported logout scope "${scope}"`)
      }
      const now = new Date()

      await db.transaction().execute(async (trx) => {
        await recordAudit(audit, trx, 'logout', user, { ip: request.clientIp, now })
        // A token without a session can only mean all of them.
        if (!session || scope === 'global') {
          return revokeAllSessions(app, trx, user.id, { keepsConsents: true }, now)
        }
        const { session_id: except } = session
        if (scope === 'others') return revokeAllSessions(app, trx, user.id, { except }, now)
        await revokeSession(app, trx, user.id, except, now)
      })
      return reply.status(204).send(null)
    },
  )
}

const Body = Type.Union([
  Type.Object({
    redirect_to: Type.Optional(
      Type.String({
        maxLength: 8192,
        description: 'Final redirect target after the identity provider',
      }),
    ),
  }),
  Type.Null(),
])
const Url = Type.Object({ url: Type.String({ description: 'The URL to navigate to' }) })

const singleLogout: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db } = app

  app.post(
    '/logout/sso',
    {
      config: { isOpenWithoutFactor: true, rejectsImpersonation: false },
      schema: {
        summary: 'Sign out here and at the identity provider (SAML 2.0 single logout)',
        description:
          'The session is revoked immediately. Navigate to `url`: the identity provider, or `redirect_to` if the provider does not support single logout.',
        tags: ['user'],
        body: Body,
        response: { 200: Url, ...ErrorResponses },
      },
    },
    async (request) => {
      if (!config.AUTH_SAML_ENABLED) throw samlProviderDisabled()
      const { user, session } = bearerAuth.getAuth(request)
      const redirectTo = redirectTarget(app, request.body?.redirect_to)
      const [now, ip] = [new Date(), request.clientIp]
      const url = await db.transaction().execute(async (trx) => {
        if (session) {
          const start = { user, sessionId: session.session_id, redirectTo, ip }
          return startLogout(app, trx, start, now)
        }
        // A token without a session can only mean all of them.
        await recordAudit(audit, trx, 'logout', user, { ip, now })
        await revokeAllSessions(app, trx, user.id, { keepsConsents: true }, now)
        return redirectTo
      })
      return { url }
    },
  )
}

export const sessionRoutes = { sessions, logout, singleLogout }

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { recordAudit } from '../../modules/audit/index.ts'
import { redirectTarget, startLogout } from '../../modules/saml/index.ts'
import { revokeAllSessions } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { samlProviderDisabled } from '../../schemas/errors.ts'

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

export default singleLogout

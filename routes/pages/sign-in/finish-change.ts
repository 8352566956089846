/** Completes a change of the account page by a link or an external provider. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { browserId, findSignedIn } from '../../../modules/page-session/index.ts'
import { callApi, readNext, textIn, verifierFor } from '../../../modules/pages/index.ts'
import { finishSignIn, isSession } from './finish.ts'

interface Returned {
  code?: string
  next?: string
  /** One of two addresses is confirmed. */
  message?: string
}

/**
 * The change is complete when the link returns. A user who is signed in keeps the session with its second factor. In
 * another browser than the one that requested the link, the code has no effect and the user signs in.
 */
export async function finishChange(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { code, next: requestedNext, message }: Returned,
): Promise<FastifyReply> {
  const next = readNext(requestedNext)
  const page = `${app.config.AUTH_API_EXTERNAL_URL}${next}`
  if (message) return reply.redirect(`${page}?done=email_half`, 303)
  const cookie = browserId(app, request)
  if (!code || !cookie) return reply.redirect(page, 303)
  const payload = { auth_code: code, code_verifier: verifierFor(app, cookie) }
  const response = await callApi(app, request, { url: '/token?grant_type=pkce', payload })
  if (!isSession(response)) return reply.redirect(page, 303)
  const token = textIn(response, 'access_token') ?? ''
  const [claims, current] = [
    await app.jwt.verify(token),
    await findSignedIn(app, request, new Date()),
  ]
  if (current?.session.id !== claims.sub) return finishSignIn(app, request, reply, response, next)
  await callApi(app, request, { url: '/logout?scope=local', token })
  return reply.redirect(`${page}?done=saved`, 303)
}

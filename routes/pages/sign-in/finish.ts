/** Completes a sign-in on the pages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { startPageSession } from '../../../modules/page-session/index.ts'
import { type ApiResponse, sendToNext, textIn } from '../../../modules/pages/index.ts'

/** Whether the API response has a session. */
export const isSession = (response: ApiResponse): boolean =>
  response.status === 200 && textIn(response, 'access_token') !== undefined

/**
 * The API's session becomes that of the pages: its tokens are discarded, the browser gets a cookie and is forwarded.
 */
export async function finishSignIn(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  response: ApiResponse,
  next: string,
): Promise<FastifyReply> {
  const now = new Date()
  const claims = await app.jwt.verify(textIn(response, 'access_token') ?? '')
  const cookie = await startPageSession(app, claims.session_id ?? '', now)
  reply.header('set-cookie', cookie)
  return sendToNext(app, request, reply, next)
}

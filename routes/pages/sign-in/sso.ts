/** The sign-in of an organization (SAML): by the domain of the email address. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import { ensureCookie, linkFlow, returnCookie } from '../../../modules/page-session/index.ts'
import {
  callApi,
  captchaToken,
  type Exchange,
  errorText,
  sendOnward,
  textIn,
} from '../../../modules/pages/index.ts'

type Fields = Readonly<Record<string, string>>

/** Forwards the browser to the identity provider, and returns the reply; otherwise the key of the error's text. */
export async function startSso(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { email = '', ...fields }: Fields,
  next: string,
): Promise<FastifyReply | string> {
  const [, domain] = /@([^@]+)$/.exec(email.trim()) ?? []
  if (domain === undefined) return 'sso_unknown'
  const flow = linkFlow(app, ensureCookie(app, request, reply), next)
  const response = await callApi(app, request, {
    url: '/sso',
    payload: { domain, ...flow, skip_http_redirect: true, ...captchaToken(app, fields) },
  })
  const url = textIn(response, 'url')
  if (url === undefined) return errorText(response) ?? 'failed'
  // A response whose sign-in is unknown, because it was posted twice, leads back here as well.
  reply.header('set-cookie', returnCookie(app, flow.redirect_to))
  return sendOnward(app, request, reply, url)
}

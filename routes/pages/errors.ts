/** Renders errors of the pages as HTML for browsers; other clients get JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { errorTextName, sendMessage } from '../../modules/pages/index.ts'
import { isRecord } from '../../schemas/values/record.ts'

/** Called in the scope of the pages. */
export function showErrors(app: FastifyInstance): void {
  app.setErrorHandler((thrown, request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw thrown
    const { status, errorCode } = app.apiErrors.report(request, thrown)
    // validation_failed means that the form is not from a recent page of this browser.
    const isExpired = errorCode === 'validation_failed'
    const text = isExpired ? 'form_expired' : errorTextName(errorCode)
    const mayTryAgain = isExpired || status === 429 || status >= 500
    const url = getPageUrl(app, request)
    return sendMessage(app, request, reply, {
      title: (say) => say('error_title'),
      status,
      text: (say) => say(text),
      ...(mayTryAgain && { wayOn: { url, text: (say) => say('open_again') } }),
    })
  })
}

/** What a page takes from its address; its forms have the same fields. */
const parameters = [
  'next',
  'authorization_id',
  'user_code',
  'post_logout_redirect_uri',
  'client_id',
  'id_token_hint',
  'state',
]

/** The page of the request, which may be that of a form. */
function getPageUrl({ config }: FastifyInstance, { body, query, routeOptions }: FastifyRequest) {
  const sent = { ...(isRecord(query) && query), ...(isRecord(body) && body) }
  const kept = parameters.flatMap((name): [string, string][] => {
    const value = sent[name]
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  })
  const search = kept.length > 0 ? `?${new URLSearchParams(kept)}` : ''
  return `${config.AUTH_API_EXTERNAL_URL}${routeOptions.url}${search}`
}

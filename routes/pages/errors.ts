/** Renders errors of the pages as HTML for browsers; other clients get JSON. */
import type { FastifyInstance } from 'fastify'

import { errorTextName, sendPage } from '../../modules/pages/index.ts'

/** Called in the scope of the pages. */
export function showErrors(fastify: FastifyInstance): void {
  fastify.setErrorHandler((thrown, request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw thrown
    const { status, errorCode } = fastify.apiErrors.report(request, thrown)
    // validation_failed means that the form is not from a recent page of this browser.
    const text = errorCode === 'validation_failed' ? 'form_expired' : errorTextName(errorCode)
    return sendPage(fastify, request, reply, 'message', {
      title: (say) => say('error_title'),
      status,
      data: (say) => ({ text: say(text) }),
    })
  })
}

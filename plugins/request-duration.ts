/**
 * Answers 504 to whoever waits longer than AUTH_API_MAX_REQUEST_DURATION. Fastify's `handlerTimeout` gives up as soon
 * as the body of a request has been read, so that it would hold for requests without a body alone.
 */
import { requestTimeout } from '../errors.ts'
import { defineExtension } from './define-plugin.ts'

export default defineExtension({
  name: 'request-duration',
  needs: ['config', 'addHook'],
  install(house) {
    const longestMs = Math.ceil(house.config.AUTH_API_MAX_REQUEST_DURATION * 1000)

    house.addHook('onRequest', (_request, reply, done) => {
      const timer = setTimeout(() => {
        if (!reply.sent) reply.send(requestTimeout())
      }, longestMs)
      reply.raw.once('close', () => clearTimeout(timer))
      done()
    })
  },
})

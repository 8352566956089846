import type { FastifyPluginAsync } from 'fastify'

/** Where password managers send a user who changes the password (A Well-Known URL for Changing Passwords, W3C). */
const changePassword: FastifyPluginAsync = async (app) => {
  const page = `${app.config.AUTH_API_EXTERNAL_URL}/account/password`
  app.get('/.well-known/change-password', { schema: { hide: true } }, async (_request, reply) =>
    reply.redirect(page, 302),
  )
}

export default changePassword

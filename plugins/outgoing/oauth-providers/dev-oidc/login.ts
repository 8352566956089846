import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import { mount, type OpenidProvider } from './openid-provider.ts'
import { devOidcPageHeaders, errorPage, loginPage } from './pages.ts'

const LoginForm = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 200 })),
  answer: Type.String(),
})

/** The login form of the development provider. */
export function serveLogin(scope: FastifyInstance, provider: () => Promise<OpenidProvider>): void {
  const path = `${mount}/login/:uid`

  scope.get(path, { schema: { hide: true } }, async (_request, reply) =>
    reply.headers(devOidcPageHeaders).send(loginPage()),
  )

  scope.post<{ Body: { name?: string; answer: string } }>(
    path,
    { schema: { hide: true, body: LoginForm } },
    async ({ raw, body }, reply) => {
      const name = body.name?.trim().normalize('NFC') || 'Ann'
      try {
        const { answer } = await provider()
        const next = await answer(raw, reply.raw, body.answer === 'yes' ? name : undefined)
        return reply.redirect(next, 303)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        return reply.status(400).headers(devOidcPageHeaders).send(errorPage(reason))
      }
    },
  )
}

/** Documents with well-known names (RFC 8615): keys, OpenID provider metadata, and security.txt. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { serverMetadata } from '../../modules/oauth-server/metadata.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ServerMetadata } from '../../schemas/oauth/metadata.ts'
import { PublicKeys } from '../../schemas/signing-key.ts'

export const jwks: FastifyPluginAsyncTypebox = async (app) => {
  const { keys } = app.jwt

  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        summary: 'JSON Web Key Set for access tokens (RFC 7517)',
        tags: ['discovery'],
        response: { 200: PublicKeys, ...ErrorResponses },
      },
    },
    async (_request, reply) => {
      // A new key is published for longer than this before it signs.
      reply.header('cache-control', `public, max-age=${keys.jwksMaxAge}`)
      return keys.ring.publicKeys(new Date())
    },
  )
}

export const openidConfiguration: FastifyPluginAsyncTypebox = async (app) => {
  const { jwt } = app

  app.get(
    '/.well-known/openid-configuration',
    {
      schema: {
        summary: 'OpenID provider metadata (OpenID Connect Discovery)',
        tags: ['discovery'],
        response: { 200: ServerMetadata, ...ErrorResponses },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${jwt.keys.jwksMaxAge}`)
      return serverMetadata(app, new Date())
    },
  )
}

/** security.txt (RFC 9116), if the operator named a contact. It is a file, not part of the API. */
const securityTxt: FastifyPluginAsync = async (app) => {
  const { config } = app
  if (config.AUTH_SECURITY_TXT_CONTACT.length === 0) return
  const text = renderText(config)
  app.get('/.well-known/security.txt', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'public, max-age=3600')
      .send(text),
  )
}

/** A field on each line. */
function renderText(config: Config): string {
  const languages = config.AUTH_SECURITY_TXT_PREFERRED_LANGUAGES
  const fields: [name: string, value: string | undefined][] = [
    ...config.AUTH_SECURITY_TXT_CONTACT.map((contact): [string, string] => ['Contact', contact]),
    ['Expires', config.AUTH_SECURITY_TXT_EXPIRES?.toISOString()],
    ['Encryption', config.AUTH_SECURITY_TXT_ENCRYPTION],
    ['Acknowledgments', config.AUTH_SECURITY_TXT_ACKNOWLEDGMENTS],
    ['Preferred-Languages', languages.length > 0 ? languages.join(', ') : undefined],
    ['Canonical', `${config.AUTH_API_EXTERNAL_URL}/.well-known/security.txt`],
    ['Policy', config.AUTH_SECURITY_TXT_POLICY],
  ]
  return fields.flatMap(([name, value]) => (value ? [`${name}: ${value}\n`] : [])).join('')
}

export const discoveryRoutes = { jwks, openidConfiguration, securityTxt }

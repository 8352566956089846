import type { FastifyPluginAsync } from 'fastify'

import type { Config } from '../../config/groups/index.ts'

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

export default securityTxt

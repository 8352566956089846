/**
 * Protects the development endpoints. The inbox contains valid links, and the provider `dev` signs any user in, so
 * pages of other sites must not read them: neither through DNS rebinding nor through this server's permissive CORS.
 */
import { isIP } from 'node:net'

import type { FastifyRequest } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { notFound, unknownHost } from '../../schemas/errors.ts'
import { defineHooksPlugin } from '../define-plugin.ts'

export default defineHooksPlugin({
  name: 'dev-hosts',
  deps: ['config', 'addHook'],
  install(deps) {
    if (!deps.config.dev) return
    const isOwnHost = createHostCheck(deps.config)
    deps.addHook('onRequest', (request, _reply, done) => {
      if (isOfDevelopment(request)) rejectOtherHosts(request, isOwnHost)
      done()
    })
  },
})

/** Matched by route, so that no prefix or spelling of the path bypasses this. */
function isOfDevelopment({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return /^\/(dev|docs)(\/|$)/.test(url)
}

function rejectOtherHosts({ headers }: FastifyRequest, isOwnHost: (name: string) => boolean): void {
  // X-Forwarded-Host is ignored: a page can set it, but not `Host`.
  const host = nameIn(`http://${headers.host}`)
  // DNS rebinding needs a name, so a page at a literal address is our own.
  if (host === undefined || !(isOwnHost(host) || isAddress(host))) throw unknownHost()
  if (headers['sec-fetch-mode'] === 'navigate') return
  if (headers['sec-fetch-site'] === 'cross-site') throw notFound()
  if (headers.origin === undefined) return
  // Browsers omit the Sec-Fetch headers for non-TLS addresses of other machines.
  const origin = nameIn(headers.origin)
  if (origin === undefined || !(isOwnHost(origin) || origin === host)) throw unknownHost()
}

const loopback = /^(.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^\[::1\]$/

/** The names of the local machine, and those configured for the server or the site. */
function createHostCheck(config: Config): (name: string) => boolean {
  const { AUTH_API_HOST, AUTH_API_EXTERNAL_URL, AUTH_SITE_URL, AUTH_MAILER_EXTERNAL_HOSTS } = config
  const given = [AUTH_API_HOST, ...AUTH_MAILER_EXTERNAL_HOSTS].map((host) =>
    nameIn(`http://${host}`),
  )
  const names = new Set([nameIn(AUTH_API_EXTERNAL_URL), nameIn(AUTH_SITE_URL), ...given])
  return (name) => names.has(name) || loopback.test(name)
}

/** As browsers serialize it: lower case, addresses normalized. */
function nameIn(url: string): string | undefined {
  return URL.parse(url)?.hostname
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0
}
